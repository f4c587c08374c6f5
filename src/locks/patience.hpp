// SPDX-License-Identifier: Apache-2.0
// When waiters are past their deadlines, and are to be handed the lock. wait_with() changes it for explorations.
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::detail {

/// After its arrival.
extern constinit std::uint64_t max_wait_ns;
/// And not sooner than that after it is the next one. This bounds the cost of hand-overs when many threads wait.
extern constinit std::uint64_t min_lead_ns;

}  // namespace txsync::inline TXSYNC_BACKEND::detail
