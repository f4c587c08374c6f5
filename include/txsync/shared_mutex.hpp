// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/site.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// The default reader-writer mutex, with a site: for std::shared_mutex's uses.
///
/// What it does: readers count themselves in one word. A writer announces itself there: newcomers then wait, and the
/// writer goes in when the readers inside have left. When it leaves, all readers that wait are let in at once, before
/// the next writer (phase-fair: Brandenburg and Anderson, ECRTS 2009). Waiters spin a little, then sleep.
/// Fairness: a reader waits for one writer at most. A writer waits for the readers inside, and for other writers as in
/// futex_mutex: at most futex_mutex::bypass_bound(writers) of them pass a writer in line. Between two writers the
/// waiting readers come in.
/// Use it for: read sections long enough to overlap (a microsecond and more). Do not: tiny read sections, where the
/// shared count costs more than a mutex.
/// Cost: one compare-exchange to enter, one fetch-sub to leave. Write: a mutex and one atomic more.
/// Statistics of the site count both modes, and every wait.
/// Named requirements: SharedLockable.
/// Constant-initialised; 24 bytes; at most 16,383 threads at one lock.
class shared_mutex {
 public:
  constexpr shared_mutex() noexcept : site_(nullptr) {}
  constexpr explicit shared_mutex(site& place) noexcept : site_(&place) {}
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  void lock_shared() noexcept {
    if (!try_enter()) [[unlikely]]
      lock_shared_slow();
    count();
  }
  [[nodiscard]] bool try_lock_shared() noexcept {
    const bool got = try_enter();
    if (got) count();
    return got;
  }
  void unlock_shared() noexcept {
    // release pairs with the writer's acquire
    const std::uint32_t before = state_.fetch_sub(reader, std::memory_order_release);
    if ((before & (readers_bits | writer)) == (reader | writer)) [[unlikely]]
      wake_writer();
  }

  TXSYNC_EXPORT void lock() noexcept;
  TXSYNC_EXPORT [[nodiscard]] bool try_lock() noexcept;
  TXSYNC_EXPORT void unlock() noexcept;

  /// Whether a writer is inside or about to be; the readers inside; whether there are any of them. True at some moment
  /// of the call: what elision subscribes to.
  bool has_writer() const noexcept { return (state_.load(std::memory_order_relaxed) & writer) != 0; }
  std::uint32_t readers() const noexcept { return state_.load(std::memory_order_relaxed) & readers_bits; }
  bool is_held() const noexcept { return (state_.load(std::memory_order_relaxed) & (readers_bits | writer)) != 0; }

  site& place() const noexcept { return site_ != nullptr ? *site_ : site::unnamed(); }

 private:
  static constexpr std::uint32_t reader = 1;
  static constexpr std::uint32_t readers_bits = 0x3FFF;
  static constexpr std::uint32_t waiting_reader = 1u << 14;
  static constexpr std::uint32_t waiting_bits = 0x3FFFu << 14;
  static constexpr std::uint32_t writer = 1u << 30;
  static constexpr std::uint32_t parity = 1u << 31;  // flips whenever waiting readers are let in

  bool try_enter() noexcept {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    while ((seen & writer) == 0) {
      // acquire pairs with the release in unlock()
      if (state_.compare_exchange_weak(seen, seen + reader, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  void count() noexcept {
    if (--observe::detail::until_sample <= 0) [[unlikely]]
      observe::detail::sample(observe::detail::counted_id(place()), nullptr);
  }
  TXSYNC_EXPORT void lock_shared_slow() noexcept;
  TXSYNC_EXPORT void wake_writer() noexcept;

  std::atomic<std::uint32_t> state_{0};
  std::atomic<std::uint32_t> phase_{0};  // its lowest bit is the parity, changed by the writer just before
  futex_mutex writers_;
  site* site_;
};

}  // namespace txsync::inline TXSYNC_BACKEND
