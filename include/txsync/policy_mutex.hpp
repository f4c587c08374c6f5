// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/concurrency_limiter.hpp>
#include <txsync/locks/lock_words.hpp>
#include <txsync/locks/timed.hpp>
#include <txsync/locks/wait_task.hpp>
#include <txsync/machine/thread_annotations.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/site.hpp>
#include <txsync/speculate/elision.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace detail {
class tagged_lock;
}

/// Policies for site::set_policy(): the algorithm of a policy_mutex. If the policy names none of them, it is `mutex`.
struct lock_policy {
  static constexpr std::uint32_t mutex = 2u << 4;
  static constexpr std::uint32_t tatas = 3u << 4;
  static constexpr std::uint32_t ticket = 4u << 4;
  static constexpr std::uint32_t fifo_ticket = 5u << 4;
  static constexpr std::uint32_t spin = 6u << 4;
  static constexpr std::uint32_t priority_tatas = 7u << 4;
};

/// A mutex whose algorithm the policy of its site chooses.
///
///     constinit txsync::site orders{"shop.orders"};
///     constinit txsync::policy_mutex orders_lock{orders};
///     int main() { orders.set_policy(txsync::lock_policy::ticket); ... }
///
/// What it does: at its first use it reads the site's policy and chooses the algorithm. The default is that of
/// txsync::mutex. Each lock_policy names the lock whose algorithm it selects; `spin` is that of spinning_mutex. Threads
/// that use the lock for the first time concurrently choose the same algorithm. A policy that is set later applies to
/// locks that are not used yet: a used lock keeps its algorithm. Counting, however, follows the present policy at
/// each count.
///
/// Sites: it is counted as txsync::mutex is. Waits are counted exactly; acquisitions and hold times are estimated from
/// samples (observe/counters.hpp).
///
/// Fairness, waiting, more threads than cores: as the lock of the algorithm. With `ticket`, waiters with a deadline
/// stand in the queue, and the concurrency limiter does not hold them back. After its deadline, a waiter's ticket is
/// passed over. At most 256 threads of the process, over all locks, can wait in that way. Further threads with a
/// deadline look at the lock every 100 us, without a bound.
///
/// Use it for: a lock whose best algorithm is found by measurement, or differs between machines (txsync tune). Do not
/// use it for: a lock whose algorithm is certain; that lock itself is smaller.
///
/// Cost: with txsync::mutex's algorithm, which is inlined, lock() and unlock() take three instructions more (a load, a
/// comparison, a branch). They save two, because a policy_mutex keeps no record for condition variables. With another
/// algorithm: one call more.
///
/// Named requirements: TimedLockable. Thread-safe; not recursive. Constant-initialised; 40 bytes; no destructor. All
/// bits zero is an unlocked lock of the unnamed site that is not used yet. The next owner may destroy it as soon as it
/// has locked and unlocked it. In the child of a fork, the thread that held it can unlock and use it.
///
/// Condition variables: std::condition_variable_any and condition_variable::wait_with(), whose waits are not counted.
/// condition_variable::wait() is for txsync::mutex only.
///
/// Elision: if the machine can run attempts and the site's policy asks for elision, critical sections run as those of
/// elided<> do (speculate/elided.hpp). A policy_mutex need not be put into elided<>. If the site's policy says nothing
/// about elision, there is none.
/// A policy that is set later applies to used locks, too. If it ends elision, it takes effect at once. If it begins
/// elision, it takes effect at the lock's next sample: within 512 acquisitions of a thread that takes no other lock.
/// The samples of a thread that takes other locks fall on this lock by chance, so it may begin later.
/// A lock whose site has never asked for elision pays nothing for it. If the site has asked for it once, a section
/// takes two calls more, even after elision has ended. Warm-up: warming<policy_mutex>.
///
/// Errors: none are reported. If a thread unlocks a mutex that it does not hold, the behaviour is undefined, as with
/// std::mutex.
class TXSYNC_CAPABILITY("mutex") policy_mutex : public detail::timed<policy_mutex> {
 public:
  constexpr policy_mutex() noexcept = default;
  constexpr explicit policy_mutex(site& the_site) noexcept : site_(&the_site) {}
  policy_mutex(const policy_mutex&) = delete;
  policy_mutex& operator=(const policy_mutex&) = delete;

  void lock() noexcept TXSYNC_LOCKS {
    if (!is_mutex() || !words_.futex.acquire_if_free()) [[unlikely]] {
      (void)lock_slowly(nullptr);
    } else {
      count();
    }
  }

  /// A waiter runs `task` before it spins. Returns false if the thread does not have the lock but is
  /// in an always-abort attempt.
  bool lock(wait_task& task) noexcept TXSYNC_TRY_LOCKS {
    if (!is_mutex() || !words_.futex.acquire_if_free()) return lock_slowly(&task);
    count();
    return true;
  }

  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS {
    if (!is_mutex()) return try_lock_slowly();
    if (!words_.futex.try_lock()) return false;
    count();
    return true;
  }

  /// Tries until machine::clock_ns() reaches `deadline`.
  TXSYNC_EXPORT [[nodiscard]] bool try_lock_until_ns(std::uint64_t deadline) noexcept TXSYNC_TRY_LOCKS;

  /// Requires: the calling thread holds the lock.
  [[gnu::always_inline]] void unlock() noexcept TXSYNC_UNLOCKS {
    if (!is_mutex()) [[unlikely]]
      return unlock_slowly();
    words_.futex.unlock([this]() noexcept { unlock_marked(); });
  }

  /// Whether a thread holds it, at some moment during the call. A speculative attempt subscribes to this.
  TXSYNC_EXPORT bool is_held() const noexcept;

  site& get_site() const noexcept { return site_ != nullptr ? *site_ : site::unnamed(); }
  [[deprecated("get_site")]] site& place() const noexcept { return get_site(); }

 private:
  /// The algorithm that was chosen, and whether the lock speculates.
  class choice {
   public:
    constexpr choice() noexcept = default;
    constexpr explicit choice(std::uint16_t tag) noexcept : tag_(tag) {}
    constexpr choice(detail::algorithm how, bool speculates) noexcept
        : tag_(static_cast<std::uint16_t>(static_cast<unsigned>(how) | (speculates ? speculates_bit : 0u))) {}
    constexpr detail::algorithm how() const noexcept { return static_cast<detail::algorithm>(tag_ & 0xFF); }
    /// Whether critical sections may run as attempts.
    constexpr bool speculates() const noexcept { return (tag_ & speculates_bit) != 0; }
    constexpr std::uint16_t tag() const noexcept { return tag_; }

    static constexpr std::uint16_t speculates_bit = 0x100;

   private:
    std::uint16_t tag_ = 0;  ///< 0: nothing is chosen yet
  };
  /// Whether it has txsync::mutex's algorithm, whose paths are inlined, and makes no attempts.
  // relaxed, here and wherever it is read: no other data changes with the choice
  [[gnu::always_inline]] bool is_mutex() const noexcept {
    return tag_.load(std::memory_order_relaxed) == choice(detail::algorithm::futex, false).tag();
  }
  void count() noexcept {
    if (--observe::detail::until_sample <= 0) [[unlikely]]
      count_sampled();
  }
  TXSYNC_EXPORT void count_sampled() noexcept;
  TXSYNC_EXPORT void unlock_marked() noexcept;
  TXSYNC_EXPORT bool lock_slowly(wait_task* task) noexcept;
  TXSYNC_EXPORT bool try_lock_slowly() noexcept;
  TXSYNC_EXPORT void unlock_slowly() noexcept;
  choice chosen() noexcept;
  bool enter_elided(choice made) noexcept;
  bool leave_elided(choice made) noexcept;
  detail::try_outcome try_elided(choice made) noexcept;
  detail::tagged_lock core() noexcept;
  bool try_as(detail::algorithm how) noexcept;
  void become_owner(detail::algorithm how) noexcept;

  detail::lock_words words_;  ///< at the lock's address, by which a race detector knows it
  site* site_ = nullptr;
  std::atomic<std::uint16_t> tag_{0};   ///< the `choice`
  std::atomic<std::uint16_t> mark_{0};  ///< which process used it last (src/locks/tagged_lock.hpp)
  concurrency_limiter limiter_;         ///< the concurrency limiter of `ticket`
};
static_assert(sizeof(policy_mutex) == 40);

}  // namespace txsync::TXSYNC_INLINE_BACKEND
