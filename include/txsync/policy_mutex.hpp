// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/admission.hpp>
#include <txsync/locks/lock_words.hpp>
#include <txsync/locks/pastime.hpp>
#include <txsync/locks/timed.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/site.hpp>
#include <txsync/speculate/elision.hpp>

namespace txsync::inline TXSYNC_BACKEND {

namespace detail {
class tagged_lock;
}

/// Policies for site::set_policy(): the algorithm of a policy_mutex. Without any of them it is `mutex`.
struct lock_policy {
  static constexpr std::uint32_t mutex = 2u << 4;
  static constexpr std::uint32_t tatas = 3u << 4;
  static constexpr std::uint32_t ticket = 4u << 4;
  static constexpr std::uint32_t fifo_ticket = 5u << 4;
  static constexpr std::uint32_t spin = 6u << 4;
  static constexpr std::uint32_t priority_tatas = 7u << 4;
};

/// A mutex whose algorithm is chosen by the policy of its site.
///
///     constinit txsync::site orders{"shop.orders"};
///     constinit txsync::policy_mutex orders_lock{orders};
///     int main() { orders.set_policy(txsync::lock_policy::ticket); ... }
///
/// What it does: the first use reads the site's policy and chooses the algorithm: that of txsync::mutex by default, or
/// that of the lock whose name a lock_policy has; `spin` is spinning_mutex's. Threads that use it first at the same
/// time choose the same. A policy that is set later is for locks that are not used yet: this one keeps its algorithm.
/// Whether it counts follows the policy at each count.
///
/// Sites: counted as txsync::mutex is, waits exactly, acquisitions and holds from samples (observe/counters.hpp).
///
/// Fairness, waiting, more threads than cores: as the lock of the algorithm. A ticket's waiters with a deadline stand
/// in the queue and not at its door; their tickets are passed over after their deadline. Of all locks together 256
/// threads can wait so; others with a deadline look at the lock every 100 us, without a bound.
///
/// Use it for: a lock whose best algorithm is found by measurement, or differs by machine (txsync tune). Do not: where
/// the choice is certain; the lock itself is smaller.
///
/// Cost: of txsync::mutex's algorithm, inlined: three instructions more (a load, a comparison, a branch) in lock() and
/// in unlock(), and two fewer, since it notes nothing for condition variables. Of another algorithm: a call more.
///
/// Named requirements: TimedLockable. Thread-safe; not recursive. Constant-initialised; all zero is an unlocked one of
/// the unnamed site, not used yet; no destructor; 40 bytes. May be destroyed by the next owner right after it has got
/// and given up the lock. In the child of a fork the thread that held it can unlock and use it.
///
/// Condition variables: std::condition_variable_any, and condition_variable::wait_with(), whose waits are not counted.
/// condition_variable::wait() is for txsync::mutex only.
///
/// Elision: where the machine makes attempts and the site's policy asks for elision, sections run as elided<> runs them
/// (speculate/elided.hpp). It need not be put into elided<>. A site that says nothing of elision has none here. A
/// policy that is set later counts for used locks, too. One that ends elision holds at once. One that begins it holds
/// from the lock's next sample on: within 512 acquisitions of a thread that takes no other lock, later by chance where
/// it does. A lock whose site has never asked for elision pays nothing for it. One whose site has asked keeps two calls
/// a section after elision has ended. Warm-up: warming<policy_mutex>.
///
/// Errors: none are reported; unlocking a mutex that the thread does not hold is undefined, as with std::mutex.
class policy_mutex : public detail::timed<policy_mutex> {
 public:
  constexpr policy_mutex() noexcept = default;
  constexpr explicit policy_mutex(site& place) noexcept : site_(&place) {}
  policy_mutex(const policy_mutex&) = delete;
  policy_mutex& operator=(const policy_mutex&) = delete;

  void lock() noexcept {
    if (!is_mutex() || !words_.futex.acquire_if_free()) [[unlikely]] {
      (void)lock_slowly(nullptr);
    } else {
      count();
    }
  }

  /// A waiter does `meanwhile` before it spins. False: it has not got the lock, but is in an always-abort attempt.
  bool lock(pastime& meanwhile) noexcept {
    if (!is_mutex() || !words_.futex.acquire_if_free()) return lock_slowly(&meanwhile);
    count();
    return true;
  }

  [[nodiscard]] bool try_lock() noexcept {
    if (!is_mutex()) return try_lock_slowly();
    if (!words_.futex.try_lock()) return false;
    count();
    return true;
  }

  /// Tries until machine::clock_ns() reaches `deadline`.
  TXSYNC_EXPORT [[nodiscard]] bool try_lock_until_ns(std::uint64_t deadline) noexcept;

  /// Requires: the calling thread holds the lock.
  [[gnu::always_inline]] void unlock() noexcept {
    if (!is_mutex()) [[unlikely]]
      return unlock_slowly();
    words_.futex.unlock([this]() noexcept { unlock_marked(); });
  }

  /// Whether somebody holds it, at some moment of the call: what a speculative attempt subscribes to.
  TXSYNC_EXPORT bool is_held() const noexcept;

  site& place() const noexcept { return site_ != nullptr ? *site_ : site::unnamed(); }

 private:
  /// What has been chosen.
  class choice {
   public:
    constexpr choice() noexcept = default;
    constexpr explicit choice(std::uint16_t tag) noexcept : tag_(tag) {}
    constexpr choice(detail::algorithm how, bool speculates) noexcept
        : tag_(static_cast<std::uint16_t>(static_cast<unsigned>(how) | (speculates ? speculates_bit : 0u))) {}
    constexpr detail::algorithm how() const noexcept { return static_cast<detail::algorithm>(tag_ & 0xFF); }
    /// Sections may run as attempts.
    constexpr bool speculates() const noexcept { return (tag_ & speculates_bit) != 0; }
    constexpr std::uint16_t tag() const noexcept { return tag_; }

    static constexpr std::uint16_t speculates_bit = 0x100;

   private:
    std::uint16_t tag_ = 0;  ///< 0: nothing yet
  };
  /// With txsync::mutex's algorithm, whose ways are inlined, and without attempts.
  // relaxed, here and wherever it is read: nothing but the choice itself changes with it
  [[gnu::always_inline]] bool is_mutex() const noexcept {
    return tag_.load(std::memory_order_relaxed) == choice(detail::algorithm::futex, false).tag();
  }
  void count() noexcept {
    if (--observe::detail::until_sample <= 0) [[unlikely]]
      count_sampled();
  }
  TXSYNC_EXPORT void count_sampled() noexcept;
  TXSYNC_EXPORT void unlock_marked() noexcept;
  TXSYNC_EXPORT bool lock_slowly(pastime* meanwhile) noexcept;
  TXSYNC_EXPORT bool try_lock_slowly() noexcept;
  TXSYNC_EXPORT void unlock_slowly() noexcept;
  choice chosen() noexcept;
  bool enter_elided(choice made) noexcept;
  bool leave_elided(choice made) noexcept;
  detail::try_outcome try_elided(choice made) noexcept;
  detail::tagged_lock core() noexcept;
  bool try_as(detail::algorithm how) noexcept;
  void become_owner(detail::algorithm how) noexcept;

  detail::lock_words words_;  ///< at its own address, by which a race detector knows it
  site* site_ = nullptr;
  std::atomic<std::uint16_t> tag_{0};   ///< the choice
  std::atomic<std::uint16_t> mark_{0};  ///< which process had it last (src/locks/tagged_lock.hpp)
  admission door_;                      ///< of `ticket`
};
static_assert(sizeof(policy_mutex) == 40);

}  // namespace txsync::inline TXSYNC_BACKEND
