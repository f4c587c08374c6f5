// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/timed.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/thread_annotations.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/site.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

class mutex;

namespace detail {
/// The mutex that the calling thread took last, if it still holds that one. Null if it has unlocked any mutex since.
[[gnu::tls_model("initial-exec")]] TXSYNC_EXPORT extern constinit thread_local const mutex* newest_held;
}  // namespace detail

/// The default mutex. It replaces std::mutex: it is faster, and it has a name under which it is counted and tuned.
///
///     constinit txsync::site orders{"shop.orders"};
///     constinit txsync::mutex orders_lock{orders};
///     { std::lock_guard guard(orders_lock); ... }
///
/// What it does: it is a futex_mutex (see locks/futex_mutex.hpp) with a site. One acquisition in 256 is sampled for the
/// site's statistics, and every wait is counted (observe/counters.hpp). To stop counting, call
/// set_policy(orders.policy() | policy_word::counting_off) on the site: this keeps the rest of its policy.
/// Fairness, waiting, and how many waiters are counted: as futex_mutex.
/// Cost: as futex_mutex, plus about one nanosecond.
/// Named requirements: TimedLockable. Thread-safe; not recursive.
/// Constant-initialised; 16 bytes.
/// Errors: none are reported. If a thread unlocks a mutex that it does not hold, the behaviour is undefined, as with
/// std::mutex.
class TXSYNC_CAPABILITY("mutex") mutex : public detail::timed<mutex> {
 public:
  constexpr mutex() noexcept : site_(nullptr) {}
  constexpr explicit mutex(site& the_site) noexcept : site_(&the_site) {}
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() noexcept TXSYNC_LOCKS {
    if (!core_.acquire_if_free()) [[unlikely]] {
      lock_contended();
    } else {
      count();
    }
  }

  /// A waiter runs `task` before it spins. Returns false if the thread does not have the lock but is
  /// in an always-abort attempt.
  bool lock(wait_task& task) noexcept TXSYNC_TRY_LOCKS {
    if (!core_.acquire_if_free()) return lock_contended(task);
    count();
    return true;
  }

  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS {
    if (!core_.try_lock()) return false;
    count();
    return true;
  }

  /// Tries until machine::clock_ns() reaches `deadline`.
  TXSYNC_EXPORT [[nodiscard]] bool try_lock_until_ns(std::uint64_t deadline) noexcept TXSYNC_TRY_LOCKS;

  /// Requires: the calling thread holds the lock.
  [[gnu::always_inline]] void unlock() noexcept TXSYNC_UNLOCKS {
    detail::newest_held = nullptr;
    core_.unlock([this]() noexcept { unlock_marked(); });
  }
  /// As futex_mutex::unlock_fair().
  TXSYNC_EXPORT void unlock_fair() noexcept TXSYNC_UNLOCKS;

  /// As those of futex_mutex.
  bool is_waited_for() const noexcept { return core_.is_waited_for(); }
  void count_more_turns(std::uint32_t turns) noexcept { core_.count_more_turns(turns); }
  /// Whether a thread holds it, at some moment during the call. A speculative attempt subscribes to this.
  bool is_held() const noexcept { return core_.is_held(); }

  /// For a type that is built on this one: whether this is the mutex that the calling thread has taken last, and still
  /// holds.
  bool is_newest_held() const noexcept { return detail::newest_held == this; }

  site& get_site() const noexcept { return site_ != nullptr ? *site_ : site::unnamed(); }
  [[deprecated("get_site")]] site& place() const noexcept { return get_site(); }

 private:
  friend class condition_variable;
  /// The next unlock wakes the threads that the holder has notified (condition_variable.cpp). Requires: the calling
  /// thread holds it.
  void wake_told_at_unlock() noexcept {
    TXSYNC_ASSERT(core_.is_held(), "the notifying thread holds the mutex");
    core_.mark();
  }

  void count() noexcept {
    detail::newest_held = this;
    if (--observe::detail::until_sample <= 0) [[unlikely]]
      count_sampled();
  }
  TXSYNC_EXPORT void count_sampled() noexcept;
  TXSYNC_EXPORT void unlock_marked() noexcept;
  bool wait_counted(std::uint64_t deadline) noexcept;
  TXSYNC_EXPORT void lock_contended() noexcept;
  TXSYNC_EXPORT bool lock_contended(wait_task& task) noexcept;

  futex_mutex core_;  ///< its word is at the mutex's address, by which a race detector knows the mutex
  site* site_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
