// SPDX-License-Identifier: Apache-2.0
// Locks that speculate, for explorations.
#pragma once

#include <txsync/speculate/elided.hpp>

#include "speculate/scoped_site.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

/// Each lock has its own site, because nothing may be learnt from one schedule to the next.
template <const auto& policy>
struct own_site {
  scoped_site own{policy};
};
template <class Lock, const auto& policy = elision_presets::eager>
class with_own_site : private own_site<policy>, public Lock {
 public:
  with_own_site() noexcept : Lock(own_site<policy>::own) {}
};

/// After the first two, attempts go on beyond their critical section (leveldb paper, 4.2.2), as far as conflicts
/// permit.
inline constexpr elision_policy coarse{
    .max_backoff = 64, .adapts = adaptation::none, .max_sections = 2, .coarsens_after = 1};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
