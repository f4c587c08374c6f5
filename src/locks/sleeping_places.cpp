// SPDX-License-Identifier: Apache-2.0
#include "sleeping_places.hpp"

#include <txsync/machine/thread.hpp>

#include "waiter_limits.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

constinit waiter_limits max_waiters;

namespace {

constexpr std::size_t place_count = 256;
constinit sleeping_place places[place_count] = {};
constexpr std::size_t place_aside_count = 64;
constinit sleeping_place places_aside[place_aside_count] = {};

constexpr std::uint64_t waiters_bits = 0xFFFF'FFFF;

/// The value for no waiters in this process.
std::uint64_t none_since_fork() noexcept { return std::uint64_t{machine::fork_count()} << 32; }

std::uint64_t mixed(const void* lock) noexcept {
  return ((reinterpret_cast<std::uintptr_t>(lock) >> 4) * 0x9E3779B97F4A7C15u) >> 40;
}

}  // namespace

// relaxed, in all three: the lock orders what is asked about the number (futex_mutex::draw())
void sleeping_place::enter() noexcept {
  const std::uint64_t none = none_since_fork();
  std::uint64_t seen = waiters_.load(std::memory_order_relaxed);
  std::uint64_t next;
  do {
    next = ((seen & ~waiters_bits) == none ? seen : none) + 1;
  } while (!waiters_.compare_exchange_weak(seen, next, std::memory_order_relaxed));
}
void sleeping_place::leave() noexcept { waiters_.fetch_sub(1, std::memory_order_relaxed); }
bool sleeping_place::is_in_use() const noexcept {
  const std::uint64_t seen = waiters_.load(std::memory_order_relaxed);
  return (seen & ~waiters_bits) == none_since_fork() && (seen & waiters_bits) != 0;
}

sleeping_place& place_of(const void* lock, std::uint32_t number) noexcept {
  return places[(mixed(lock) + number) % place_count];
}
sleeping_place& place_aside_of(const void* lock) noexcept { return places_aside[mixed(lock) % place_aside_count]; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
