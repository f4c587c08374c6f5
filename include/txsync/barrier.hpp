// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// A reusable barrier for a fixed number of threads.
///
/// What it does: it counts arrivals. The last arrival opens the next generation. The other threads spin on the
/// generation for a short time, and then sleep. The two words lie on separate cache lines, as in the always-abort
/// paper's Fig. 6, so that arrivals do not disturb the waiters.
/// Requires: exactly `threads` threads (1 to 2^31) arrive in each phase. A count outside that range ends the program
/// with a message; in a constant expression it does not compile. Phases are counted modulo 2^32, since a thread is
/// behind by one phase at most.
/// The barrier may be destroyed once arrive_and_wait() has returned in all threads.
/// Cost: one fetch-sub per arrival, and one line transfer per waiter for the opening. A sleep and wake takes 5..60 us.
/// Thread-safe; constant-initialised; 256 bytes.
class barrier {
 public:
  static constexpr std::uint32_t max_threads = 1U << 31;

  constexpr explicit barrier(std::uint32_t threads) noexcept : threads_(threads), awaited_(threads) {
    if (threads == 0 || threads > max_threads) [[unlikely]]
      refuse_count();
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  /// Waits until all threads of this phase have arrived. What each thread did before its arrival is visible to all of
  /// them afterwards. Returns true in exactly one thread, the last one to arrive.
  TXSYNC_EXPORT bool arrive_and_wait() noexcept;

 protected:
  // The two halves of arrive_and_wait(), for derived barriers that do something between them.
  struct arrival {
    std::uint32_t generation;  ///< the generation that the thread waits for
    bool last;                 ///< this thread was the last to arrive: it does not wait
  };
  TXSYNC_EXPORT arrival arrive() noexcept;
  TXSYNC_EXPORT void wait_until_over(std::uint32_t generation) noexcept;
  bool is_over(std::uint32_t generation) const noexcept {
    return generation_.load(std::memory_order_acquire) != generation;  // pairs with the store in arrive()
  }
  /// If false, spinning waiters may keep the threads that they wait for from running.
  TXSYNC_EXPORT bool has_cpu_for_each() const noexcept;

 private:
  [[noreturn]] TXSYNC_EXPORT static void refuse_count() noexcept;
  bool spin(std::uint32_t generation) const noexcept;
  void sleep(std::uint32_t generation) noexcept;

  alignas(128) std::uint32_t threads_;
  std::atomic<std::uint32_t> awaited_;
  // Not on the line of the generation: a thread that falls asleep must not disturb those that watch the generation.
  std::atomic<std::uint32_t> sleepers_{0};
  alignas(128) std::atomic<std::uint32_t> generation_{0};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
