// SPDX-License-Identifier: Apache-2.0
// Lock order: remembers which lock was taken while which other one was held. Reports when two were taken in both
// orders, by any threads, at any times. Only if the launcher asks for it (`txsync run --check-order`): each acquisition
// then costs 50 ns and more for each lock held.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

extern constinit std::atomic<bool> order_watched;

/// relaxed: set before the program has two threads
inline bool watches_order() noexcept { return order_watched.load(std::memory_order_relaxed); }

/// The order cannot block a thread that only tries.
enum class acquire_kind : std::uint8_t { waits, tries };

void acquired_in_order(const void* lock, std::uint32_t site, acquire_kind kind) noexcept;
/// By any thread: one that has not taken the lock takes it from the one that has.
void released_in_order(const void* lock) noexcept;
/// The lock is destroyed. Another one may later lie at its address.
void forget_in_order(const void* lock) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
