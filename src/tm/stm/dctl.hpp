// SPDX-License-Identifier: Apache-2.0
// The beginning and the end of dctl's attempts, here so that they are inlined where attempts begin and end.
#pragma once

#include "tm/stm/orecs.hpp"

namespace txsync::inline TXSYNC_BACKEND::tm::detail {

inline void begin_dctl(engine& me) {
  begin_with_orecs(me);
  me.in_place = me.mine;
  me.bound = shared.clock.load();
}

inline bool commit_dctl(engine& me) {
  if (me.owned.empty()) return false;
  if (!orecs_are_valid(me)) restart(me, abort_cause::validation);
  release_at(me, shared.clock.load());
  return true;
}

}  // namespace txsync::inline TXSYNC_BACKEND::tm::detail
