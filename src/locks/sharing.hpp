// SPDX-License-Identifier: Apache-2.0
// How close to a busy lock a waiter should stay. Close: it takes the lock as soon as it is free, so that what threads
// do between their sections overlaps, and lock and data move from CPU to CPU at each turn. Away: it lets the others
// have the lock for a while, so that lock and data stay in one cache. Which is faster depends on the machine (the price
// of moving a line), the sections and what lies between them, and is found out by trying both, lock by lock, now and
// then.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::detail {

enum class stay : std::uint8_t { close, away };

/// What is known of one lock: two rates, in turns of the lock a time. Hints: relaxed throughout, and locks whose
/// addresses collide disturb each other. Written by waiters only.
class alignas(64) sharing_record {
 public:
  stay advice() const noexcept {
    const std::uint32_t phase = trials_.load(std::memory_order_relaxed) % trial_period;
    if (phase < trial_length) return stay::close;
    if (phase < 2 * trial_length) return stay::away;
    return rate(stay::close) >= rate(stay::away) ? stay::close : stay::away;
  }

  /// The lock was taken `turns` times within so many cycles while waiters stayed like that.
  void measured(stay how, std::uint64_t turns, std::uint64_t cycles) noexcept {
    if (cycles > 0 && cycles <= longest_window) {
      const std::uint64_t now = (turns << 20) / cycles;
      const std::uint64_t before = rate(how);
      const std::uint64_t next = before == 0 ? now : (3 * before + now) / 4;
      rates_[static_cast<std::size_t>(how)].store(static_cast<std::uint32_t>(next), std::memory_order_relaxed);
    }
    trials_.store(trials_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// Longer than the shortest wait that tells something; shorter than the lock's count of turns takes to come around.
  static constexpr std::uint64_t shortest_window = 50'000;
  static constexpr std::uint64_t longest_window = 400'000;

  /// The record of a lock, fresh where another lock had it.
  static sharing_record& of(const void* lock) noexcept;

 private:
  static constexpr std::uint32_t trial_length = 8;
  static constexpr std::uint32_t trial_period = 512;

  std::uint32_t rate(stay how) const noexcept {
    return rates_[static_cast<std::size_t>(how)].load(std::memory_order_relaxed);
  }

  std::atomic<const void*> lock_{nullptr};
  std::atomic<std::uint32_t> rates_[2] = {};
  std::atomic<std::uint32_t> trials_{0};
};

}  // namespace txsync::inline TXSYNC_BACKEND::detail
