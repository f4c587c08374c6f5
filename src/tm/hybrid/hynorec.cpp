// SPDX-License-Identifier: Apache-2.0
// hynorec: norec with hardware attempts beside it. Sources:
//  - Dalessandro, Carouge, White, Lev, Moir, Scott and Spear, "Hybrid NOrec", ASPLOS 2011
//  - hybrid paper, section V: two counters, so that what an attempt subscribes to is not what it signals by
//
// Why it is right.
//  - Attempts do not see half of a commit. A software transaction raises the count of commits before it takes the
//    clock, and lowers it after it has released the clock. An attempt reads that count first.
//  - Software does not see half of an attempt: the attempt moves the clock in the same step in which its writes become
//    visible, if a software transaction may run. It looks for them last. A transaction that begins after that look has
//    announced itself, which aborts the attempt.
#include "tm/hybrid/announcements.hpp"
#include "tm/stm/parts.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

void begin(engine& me) {
  announce(runner_of(me));
  norec_parts::begin(me);
}

bool commit(engine& me) {
  runner& mine = runner_of(me);
  if (mine.writes.empty()) return false;
  raise_commits(mine);
  const bool wrote = norec_parts::commit(me);
  lower_commits(mine);
  return wrote;
}

void roll_back(engine& me) noexcept { lower_commits(runner_of(me)); }

void prepare_attempt(engine& me) noexcept {
  withdraw_in_time(runner_of(me));
  wait_for_commits();
}

void begin_attempt(engine& me) noexcept {
  subscribe_to_commits();
  me.duties = notes_writes;
}

void end_attempt(engine& me) noexcept {
  if (!me.has_written_directly || !others_are_announced(runner_of(me))) return;
  // No software transaction holds the clock, since none commits.
  machine::store_in_attempt(shared.clock, shared.clock.load(std::memory_order_relaxed) + 1);
}

constexpr hardware_half attempts = {.prepare = prepare_attempt, .begin = begin_attempt, .end = end_attempt};

constexpr algorithm make() noexcept {
  algorithm made = as_papers_hybrid(norec_parts::all, "hynorec",
                                    "attempts of the hardware that move norec's clock; otherwise as norec", attempts);
  made.begin = begin;
  made.commit = commit;
  made.roll_back = roll_back;
  return made;
}

}  // namespace

constinit const algorithm hynorec = make();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
