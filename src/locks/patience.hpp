// SPDX-License-Identifier: Apache-2.0
// When a waiter's deadline is, after which it is handed the lock. wait_with() changes that for explorations.
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

/// From the waiter's arrival to its deadline.
extern constinit std::uint64_t max_wait_ns;
/// The least time from when the waiter is the next one to its deadline. It bounds the cost of hand-overs when many
/// wait.
extern constinit std::uint64_t min_lead_ns;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
