// SPDX-License-Identifier: Apache-2.0
// The beginning and the end of dctl's attempts. They are here to be inlined where attempts begin and end.
#pragma once

#include "tm/stm/orecs.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

/// A long transaction that found a version as young as its start has lost more than the deferred clock saves. So the
/// next transactions of its block move the clock when they start. A short transaction does not cause that.
inline void learn_to_start_late(engine& me) noexcept {
  constexpr std::size_t shortest = 64;
  if (me.reads.size() >= shortest) runner_of(me).where->start_late(true);
}

/// The clock, moved by this transaction. A thread forgets now and then that this is needed. If it is, one transaction is
/// restarted.
inline std::uint64_t move_clock(runner& me) noexcept {
  constexpr std::uint32_t max_turns = 16'384;
  if (++me.late_starts == max_turns) {
    me.late_starts = 0;
    me.where->start_late(false);
  }
  return shared.clock.fetch_add(1) + 1;
}

inline void begin_dctl(engine& me) {
  begin_with_orecs(me);
  me.in_place = me.mine;
  runner& mine = runner_of(me);
  const bool late = (mine.where->learnt() & block::starts_late) != 0;
  me.set_bound(late ? move_clock(mine) : shared.clock.load());
}

/// Requires: the transaction has written.
inline void commit_owned(engine& me) {
  TXSYNC_ASSERT_VALUE(!me.owned.empty(), "the transaction that commits writes has written");
  if (!orecs_are_valid(me)) restart(me, abort_cause::validation);
  release_at(me, shared.clock.load());
}

inline bool commit_dctl(engine& me) {
  if (me.owned.empty()) {
    if (runner_of(me).failures != 0) learn_to_start_late(me);
    return false;
  }
  commit_owned(me);
  return true;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
