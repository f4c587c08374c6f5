// SPDX-License-Identifier: Apache-2.0
// Elided locks for explorations.
#pragma once

#include <txsync/speculate/elided.hpp>

namespace txsync::inline TXSYNC_BACKEND::workloads {

/// A role for each lock, since nothing may be learnt from one schedule to the next.
template <const elision_policy& policy>
struct own_role {
  elision role{policy};
};
template <class Elided, const elision_policy& policy = elision_presets::eager>
class alone : private own_role<policy>, public Elided {
 public:
  alone() noexcept : Elided(own_role<policy>::role) {}
};

/// Attempts that go on behind their section (leveldb paper, 4.2.2), after the first two, as far as conflicts let them.
inline constexpr elision_policy coarse{
    .longest_backoff = 64, .adapts = adaptation::none, .most_sections = 2, .coarsens_after = 1};

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
