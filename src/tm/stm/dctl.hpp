// SPDX-License-Identifier: Apache-2.0
// The beginning and the end of dctl's attempts. They are here to be inlined where attempts begin and end.
#pragma once

#include "tm/stm/orecs.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

/// A long transaction that found a version as young as its start has lost more than the deferred clock saves. So the
/// thread's next transactions move the clock when they start: as many of them as this one had read records. A short
/// transaction does not cause that.
inline void learn_to_start_late(engine& me) noexcept {
  constexpr std::size_t shortest = 64;
  constexpr std::size_t max_turns = 1'024;
  const std::size_t read = me.reads.size();
  if (read < shortest) return;
  runner_of(me).moves_clock = static_cast<std::uint32_t>(read < max_turns ? read : max_turns);
  me.has_extras = true;  // the next transaction does not begin as most do
}

inline void begin_dctl(engine& me) {
  begin_with_orecs(me);
  me.in_place = me.mine;
  runner& mine = runner_of(me);
  if (mine.moves_clock == 0) [[likely]] {
    me.set_bound(shared.clock.load());
  } else {
    --mine.moves_clock;
    me.set_bound(shared.clock.fetch_add(1) + 1);
  }
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
