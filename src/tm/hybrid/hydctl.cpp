// SPDX-License-Identifier: Apache-2.0
// hydctl: dctl with hardware attempts beside it. Ours. auto is the same, but chooses for each block whether it tries the
// hardware at all (path_choice.hpp). While no software transaction runs, an attempt reads and writes
// plainly. Otherwise it looks at the ownership records of all words, as hytinystm's do.
//
// Why it is right.
//  - Attempts do not see what software may undo: dctl writes in place, but owns the word's record from before its first
//    write to after its last, or its undoing. An attempt that does not look at records has read that no software
//    transaction runs; one that begins later announces itself first, which aborts the attempt.
//  - Software does not see half of an attempt. The version of the attempt's words is the clock's, read within the
//    attempt. A software transaction accepts versions below its start, so it accepts this one only if it has started
//    after the clock moved past it, and so after the attempt had committed. (dctl.cpp has the argument.)
#include "tm/hybrid/announcements.hpp"
#include "tm/stm/parts.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

void begin(engine& me) {
  announce(runner_of(me));
  begin_dctl(me);
}

void prepare_attempt(engine& me) noexcept { withdraw_in_time(runner_of(me)); }

void begin_attempt(engine& me) noexcept {
  if (others_are_announced(runner_of(me))) me.duties = checks_reads | marks_writes;
  me.lead = 0;
}

constexpr hardware_half attempts = {.prepare = prepare_attempt, .begin = begin_attempt, .end = [](engine&) noexcept {}};

constexpr algorithm make(const char* name, const char* summary) noexcept {
  algorithm made = as_hybrid(dctl_parts::all, name, summary, attempts);
  made.begin = begin;
  return made;
}

}  // namespace

constinit const algorithm hydctl =
    make("hydctl", "attempts of the hardware, plain while no software transaction runs; otherwise as dctl");
constinit const algorithm automatic = [] {
  algorithm made = make("auto", "each block in hardware, by hydctl, where that pays; otherwise by dctl");
  made.without_attempts = &dctl;
  return made;
}();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
