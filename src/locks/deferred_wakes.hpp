// SPDX-License-Identifier: Apache-2.0
// Wakes of the calling thread that are due when it gives up a mutex which the woken need.
#pragma once

#include <atomic>
#include <cstdint>

namespace txsync::inline TXSYNC_BACKEND::detail {

/// machine::unpark_high(word, 1 or everyone), when the thread calls wake_deferred_by(mutex). False, and nothing done,
/// where there are too many already. Both are kept by address only.
bool defer_wake(const std::atomic<std::uint64_t>& word, bool of_everybody, const void* mutex) noexcept;

/// The thread has given up that mutex. Whoever defers a wake sees to it that this is called.
void wake_deferred_by(const void* mutex) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::detail
