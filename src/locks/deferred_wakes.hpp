// SPDX-License-Identifier: Apache-2.0
// Wake-ups that the calling thread makes when it gives up the mutex that the woken threads need.
#pragma once

#include <atomic>
#include <cstdint>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

/// Defers machine::unpark_high(word, 1 or everyone) until the thread calls wake_deferred_by(mutex). Returns false,
/// without effect, if too many are deferred already. Only the addresses of both are kept.
bool defer_wake(const std::atomic<std::uint64_t>& word, bool of_everybody, const void* mutex) noexcept;

/// The thread has given up that mutex. A caller of defer_wake() must ensure that this is called.
void wake_deferred_by(const void* mutex) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
