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

constexpr algorithm made = {
    .name = "hydctl",
    .summary = "attempts of the hardware, plain while no software transaction runs; otherwise as dctl",
    .begin = begin,
    .read = dctl_parts::read,
    .write = dctl_parts::write,
    .commit = commit_dctl,
    .roll_back = dctl_parts::roll_back,
    .roll_back_to = undo_to,
    .is_valid = orecs_are_valid,
    .add_reads = add_read_orecs,
    .add_writes = add_undone_words,
    .in_hardware = &attempts,
    .beside_hardware = true,
};

constexpr algorithm make_automatic() {
  algorithm chooses = made;
  chooses.name = "auto";
  chooses.summary = "each block in hardware, by hydctl, where that pays; otherwise by dctl";
  return chooses;
}

}  // namespace

constinit const algorithm hydctl = made;
constinit const algorithm automatic = make_automatic();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
