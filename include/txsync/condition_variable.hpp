// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <txsync/locks/timed.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread_annotations.hpp>
#include <txsync/mutex.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// A condition variable for txsync::mutex, and for any other lock by wait_with().
///
/// What it does: a notification changes a number on which the waiters sleep. A waiter that finds no other waiter first
/// watches that number for up to 8 us (now and then 25 us), and then sleeps. While it watches, a notification needs no
/// system call. The thread's last watches determine how long it watches: a watch that fails shortens the next one.
/// A notification wakes no thread at once if the notifying thread holds the waiters' mutex and has taken no other mutex
/// since. The unlock of that mutex then wakes the notified threads, which could not run before. (The third and later
/// notifications in one critical section wake at once.)
/// No notification that follows the caller's unlock (inside wait) is lost. Spurious returns are possible, as with
/// std::condition_variable. notify_one wakes the thread that has waited longest, among threads of one scheduling
/// priority. A thread that has watched without success counts from the moment at which it sleeps. If waiters have
/// different real-time priorities, use notify_all, because the kernel wakes by priority first.
/// Fairness: a woken thread locks the mutex like any other thread, within futex_mutex's bound. In wait_with(), the
/// fairness is that of the lock.
/// Requires: all concurrent waiters use the same mutex.
/// It may be destroyed once every waiter has been notified, even before they have returned: the destructor waits until
/// the notified threads have left.
/// Cost: a notification is one load if no thread waits, and one read-modify-write if the only waiter watches. A wake-up
/// is one system call. 16 bytes, constant-initialised; all bits zero is a valid condition variable. Condition waits are
/// counted at the mutex's site, apart from lock waits. Thread-safe.
/// At most 65,535 threads wait at one time. A further thread returns after a millisecond, as if spuriously.
/// In the child of a fork the parent's waiters do not count, and the destructor does not wait for them.
class condition_variable {
 public:
  constexpr condition_variable() noexcept = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;
  ~condition_variable() {
    // acquire pairs with the release of threads that leave: no thread accesses the variable any more
    if ((state_.load(std::memory_order_acquire) & leavers_bits) != 0) [[unlikely]]
      await_leavers();
  }

  void notify_one() noexcept {
    // relaxed: the mutex makes each waiter visible that the caller has to wake
    if ((state_.load(std::memory_order_relaxed) & waiters_bits) != 0) notify(1);
  }
  void notify_all() noexcept {
    // relaxed: as in notify_one()
    if ((state_.load(std::memory_order_relaxed) & waiters_bits) != 0) notify(waiters_bits);
  }

  void wait(std::unique_lock<mutex>& lock) noexcept { (void)wait_until_ns(lock, machine::no_deadline); }
  template <class Predicate>
  void wait(std::unique_lock<mutex>& lock, Predicate predicate) {
    while (!predicate()) wait(lock);
  }

  /// `deadline` is a value of machine::clock_ns().
  TXSYNC_EXPORT std::cv_status wait_until_ns(std::unique_lock<mutex>& lock, std::uint64_t deadline) noexcept;

  template <class Rep, class Period>
  std::cv_status wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& time) {
    return wait_until_ns(lock, detail::deadline_after(time));
  }
  template <class Rep, class Period, class Predicate>
  bool wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& time, Predicate predicate) {
    const std::uint64_t deadline = detail::deadline_after(time);
    while (!predicate()) {
      if (wait_until_ns(lock, deadline) == std::cv_status::timeout) return predicate();
    }
    return true;
  }
  template <class Clock, class Duration>
  std::cv_status wait_until(std::unique_lock<mutex>& lock, const std::chrono::time_point<Clock, Duration>& time) {
    const std::cv_status status = wait_until_ns(lock, detail::deadline_at(time));
    return status == std::cv_status::timeout && !detail::has_come(time) ? std::cv_status::no_timeout : status;
  }
  template <class Clock, class Duration, class Predicate>
  bool wait_until(std::unique_lock<mutex>& lock, const std::chrono::time_point<Clock, Duration>& time,
                  Predicate predicate) {
    while (!predicate()) {
      if (wait_until(lock, time) == std::cv_status::timeout) return predicate();
    }
    return true;
  }

  /// wait() with any lock that has lock() and unlock(). Requires: the calling thread holds it. Returns false if the
  /// deadline has passed.
  template <class Lockable>
  bool wait_with(Lockable& lock, std::uint64_t deadline = machine::no_deadline) TXSYNC_UNCHECKED {
    if constexpr (requires { lock.is_held(); }) {
      // A section that warms up in an always-abort attempt does not hold the lock.
      TXSYNC_ASSERT(lock.is_held() || machine::warm_active(), "the calling thread holds the lock that it waits with");
    }
    const std::uint64_t ticket = enter(nullptr);
    lock.unlock();
    const bool notified = sleep(ticket, deadline);
    lock.lock();
    return notified;
  }

 private:
  // The bits of state_:
  //     0..15   threads that wait and have not been notified
  //     16..31  threads that have been notified and have not left yet
  //     32      of the threads that wait, the one that has waited longest watches the word instead of sleeping
  //     33..36  the process of all these threads, by the count of forks
  //     37..63  the number of notifications
  static constexpr std::uint64_t waiter = 1;
  static constexpr std::uint64_t waiters_bits = 0xFFFF;
  static constexpr std::uint64_t leaver = std::uint64_t{1} << 16;
  static constexpr std::uint64_t leavers_bits = 0xFFFF'0000;
  static constexpr std::uint64_t watched = std::uint64_t{1} << 32;
  static constexpr unsigned process_shift = 33;
  static constexpr std::uint64_t process_bits = std::uint64_t{0xF} << process_shift;
  static constexpr unsigned number_shift = 37;
  static constexpr std::uint64_t notification = std::uint64_t{1} << number_shift;
  static constexpr std::uint64_t no_room = 1;  ///< enter() returns it instead of a ticket

  /// Whether a notification has come between two states.
  static constexpr bool differ(std::uint64_t one, std::uint64_t other) noexcept {
    return (one ^ other) >> number_shift != 0;
  }
  static std::uint64_t without_parents_threads(std::uint64_t seen) noexcept;
  /// Returns a ticket: the number of notifications before the thread entered, and `watched` if this thread is to watch.
  /// Returns `no_room` if the thread has not entered. `guard` is null if its unlock cannot make deferred wake-ups.
  TXSYNC_EXPORT std::uint64_t enter(mutex* guard) noexcept;
  TXSYNC_EXPORT void await_leavers() noexcept;
  /// Waits after enter(). The thread does not access the variable after this call.
  TXSYNC_EXPORT bool sleep(std::uint64_t ticket, std::uint64_t deadline) noexcept;
  void watch(std::uint64_t ticket, std::uint64_t deadline) noexcept;
  static bool sleep_outside(std::uint64_t deadline) noexcept;
  bool leave(std::uint64_t& seen, std::uint64_t ticket, bool late) noexcept;
  TXSYNC_EXPORT void notify(std::uint64_t how_many) noexcept;

  // The two halves of a notification. Between them, an attempt may have to commit (elided_condition_variable.hpp).
  friend class elided_condition_variable;
  /// Notifies up to `how_many` waiters. True: wake() has to follow.
  TXSYNC_EXPORT bool announce(std::uint64_t how_many) noexcept;
  /// Uses the address only: the variable may have been destroyed.
  TXSYNC_EXPORT static void wake(const condition_variable* waited_on, std::uint64_t how_many) noexcept;

  std::atomic<std::uint64_t> state_{0};
  std::atomic<mutex*> guard_{nullptr};  ///< the waiters' mutex
};
static_assert(sizeof(condition_variable) == 16);

}  // namespace txsync::TXSYNC_INLINE_BACKEND
