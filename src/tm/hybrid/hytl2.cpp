// SPDX-License-Identifier: Apache-2.0
// hytl2: tl2 with hardware attempts beside it (hybrid paper, section V). An attempt subscribes to the count of software
// commits in progress, and gives the words that it writes a version.
//
// Why it is right.
//  - Attempts do not see half of a commit: a software transaction raises the count before it owns its words, and lowers
//    it after it has released them.
//  - Software does not see half of an attempt. The version of its words is the clock's value plus one, read within the
//    attempt, so no transaction that has started accepts it. But the clock has not moved, so a commit always checks
//    what was read. A transaction that meets such a version moves the clock to it before it starts anew.
#include "tm/hybrid/announcements.hpp"
#include "tm/stm/parts.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

bool commit(engine& me) {
  runner& mine = runner_of(me);
  if (me.owned.empty()) return false;
  raise_commits(mine);
  const bool wrote = tl2_parts::commit(me);
  lower_commits(mine);
  return wrote;
}

void roll_back(engine& me) noexcept {
  tl2_parts::roll_back(me);
  lower_commits(runner_of(me));
}

void prepare_attempt(engine&) noexcept { wait_for_commits(); }

void begin_attempt(engine& me) noexcept {
  subscribe_to_commits();
  me.duties = marks_writes;
  me.lead = 1;
}

constexpr hardware_half attempts = {.prepare = prepare_attempt, .begin = begin_attempt, .end = [](engine&) noexcept {}};

constexpr algorithm make() noexcept {
  algorithm made = as_papers_hybrid(tl2_parts::all, "hytl2",
                                    "attempts of the hardware that write versions; otherwise as tl2", attempts);
  made.commit = commit;
  made.roll_back = roll_back;
  return made;
}

}  // namespace

constinit const algorithm hytl2 = make();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
