// SPDX-License-Identifier: Apache-2.0
// The seam: a pair of fences of which one side pays for both.
#pragma once

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// Fences for two threads that store, and then load what the other thread has stored. Each thread has one of these
/// fences between its store and its load, and at least one of the two is a heavy_fence(). Then at least one thread sees
/// the other's store, as if both had called fence(). The thread that does this often uses light_fence(), the other one
/// heavy_fence().
///
/// Cost of light_fence(): no instruction, only a fence for the compiler (with Linux's membarrier, since 4.14);
/// elsewhere that of fence().
[[gnu::always_inline]] inline void light_fence() noexcept;
/// Cost: 1..10 us, and an interrupt on every CPU that runs a thread of this process; elsewhere that of fence(). Errors:
/// none. If the system refuses later what it had allowed, light_fence() is a fence() from then on.
TXSYNC_EXPORT void heavy_fence() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

#include <txsync_backend/asymmetric.hpp>
