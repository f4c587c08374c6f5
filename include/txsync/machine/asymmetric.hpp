// SPDX-License-Identifier: Apache-2.0
// The seam: a fence of which one side pays for both.
#pragma once

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine {

/// Two threads store and then load what the other one has stored. When each has one of these two between its store and
/// its load, at least one of them sees the other's store, as if both had called fence(), provided that one of the two
/// is a heavy_fence(): the thread that does this often takes light_fence(), the other one heavy_fence().
///
/// Cost of light_fence(): none but the compiler's (with Linux's membarrier, since 4.14); elsewhere that of fence().
[[gnu::always_inline]] inline void light_fence() noexcept;
/// Cost: 1..10 us, and an interrupt on every CPU that runs a thread of this process; elsewhere that of fence(). Errors:
/// none; where the system refuses later what it had allowed, light_fence() is a fence() from then on.
TXSYNC_EXPORT void heavy_fence() noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::machine

#include <txsync_backend/asymmetric.hpp>
