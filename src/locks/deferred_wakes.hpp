// SPDX-License-Identifier: Apache-2.0
// Wake-ups that the calling thread makes when it gives up a mutex that the woken threads need.
#pragma once

#include <atomic>
#include <cstdint>

namespace txsync::inline TXSYNC_BACKEND::detail {

/// Calls machine::unpark_high(word, 1 or everyone) when the thread calls wake_deferred_by(mutex). False, with no
/// effect, if too many are deferred already. Only the addresses of both are kept.
bool defer_wake(const std::atomic<std::uint64_t>& word, bool of_everybody, const void* mutex) noexcept;

/// The thread has given up that mutex. A caller of defer_wake() must ensure that this is called.
void wake_deferred_by(const void* mutex) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::detail
