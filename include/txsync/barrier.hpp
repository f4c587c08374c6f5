// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// A reusable barrier for a fixed number of threads.
///
/// What it does: counts arrivals; the last one opens the next generation, on which the others spin a little and then
/// sleep. The two words lie on lines of their own, as in the always-abort paper's Fig. 6, so that arrivals do not
/// disturb those who wait.
/// Requires: exactly `threads` threads (1 to 2^31) arrive in each phase. Another number ends the program with a
/// sentence, or is no constant expression. Phases are counted modulo 2^32: a thread is behind by one at most.
/// May be destroyed once all have returned.
/// Cost: one fetch-sub an arrival, one line transfer a waiter for the opening; a sleep and wake 5..60 us.
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

  /// Waits until all threads of this phase have arrived. What each did before is visible to all after. True for exactly
  /// one of them, the last.
  TXSYNC_EXPORT bool arrive_and_wait() noexcept;

 protected:
  // The two halves of arrive_and_wait(), for barriers that do something between them.
  struct arrival {
    std::uint32_t generation;  ///< that has to pass
    bool last;                 ///< it has: there is nothing to wait for
  };
  TXSYNC_EXPORT arrival arrive() noexcept;
  TXSYNC_EXPORT void wait_until_over(std::uint32_t generation) noexcept;
  bool is_over(std::uint32_t generation) const noexcept {
    return generation_.load(std::memory_order_acquire) != generation;  // pairs with the store in arrive()
  }
  /// Otherwise who spins keeps those from running that are waited for.
  TXSYNC_EXPORT bool has_cpu_for_each() const noexcept;

 private:
  [[noreturn]] TXSYNC_EXPORT static void refuse_count() noexcept;
  bool spin(std::uint32_t generation) const noexcept;
  void sleep(std::uint32_t generation) noexcept;

  alignas(128) std::uint32_t threads_;
  std::atomic<std::uint32_t> awaited_;
  std::atomic<std::uint32_t> sleepers_{
      0};  // not beside the generation: who falls asleep disturbs nobody who watches it
  alignas(128) std::atomic<std::uint32_t> generation_{0};
};

}  // namespace txsync::inline TXSYNC_BACKEND
