// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <txsync/locks/timed.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/mutex.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// A condition variable for txsync::mutex, and for any lock through wait_with().
///
/// What it does: a notification changes a number on which waiters sleep. A thread that comes when nobody else waits
/// looks at that number for up to 8 us (now and then 25 us) before it sleeps; while it looks, a notification needs no
/// system call. How long it looks follows from what came of its last looks. A notification by a thread that holds the
/// waiters' mutex, and took no other since, wakes them when it gives the mutex up: they could do nothing before. (The
/// third and later notifications in one section wake at once.) No
/// notification that follows the caller's unlock (inside wait) is lost. Spurious returns are possible, as with the
/// standard's. notify_one wakes the thread that has waited longest, among threads of one scheduling priority; one that
/// looked in vain counts from when it sleeps. With several real-time priorities at one variable use notify_all, since
/// the kernel wakes by priority first.
/// Fairness: a woken thread locks the mutex like any other, under futex_mutex's bound; in wait_with(), its lock's.
/// Requires: all concurrent waiters use the same mutex.
/// May be destroyed once every waiter has been notified, even before they have returned: the destructor waits until the
/// notified ones have left.
/// Cost: a notification without waiters is one load, one for a thread that watches is one read-modify-write, a wake-up
/// is one system call. 16 bytes, constant-initialised, all zero is a valid one. Condition waits are counted at the
/// mutex's site, apart from lock waits. Thread-safe.
/// At most 65,535 threads wait at one time. A further one returns after a millisecond, as if spuriously.
/// In the child of a fork the parent's waiters do not count, also not for the destructor.
class condition_variable {
 public:
  constexpr condition_variable() noexcept = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;
  ~condition_variable() {
    // acquire pairs with the release of those that leave: nothing touches the variable any more
    if ((state_.load(std::memory_order_acquire) & leavers_bits) != 0) [[unlikely]]
      await_leavers();
  }

  void notify_one() noexcept {
    // relaxed: a waiter that the caller has to know of is visible through the mutex
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

  /// `deadline` on machine::clock_ns().
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

  /// wait() with any lock that has lock() and unlock(), held by the caller. False when the deadline has passed.
  template <class Lockable>
  bool wait_with(Lockable& lock, std::uint64_t deadline = machine::no_deadline) {
    const std::uint64_t ticket = enter(nullptr);
    lock.unlock();
    const bool notified = sleep(ticket, deadline);
    lock.lock();
    return notified;
  }

 private:
  // From the low end: threads that wait and have not been notified; those that were and have not left yet; whether one
  // of those that wait, the one that has waited longest, watches instead of sleeping; of which process they are, by the
  // count of forks; the number of notifications.
  static constexpr std::uint64_t waiter = 1;
  static constexpr std::uint64_t waiters_bits = 0xFFFF;
  static constexpr std::uint64_t leaver = std::uint64_t{1} << 16;
  static constexpr std::uint64_t leavers_bits = 0xFFFF'0000;
  static constexpr std::uint64_t watched = std::uint64_t{1} << 32;
  static constexpr unsigned process_shift = 33;
  static constexpr std::uint64_t process_bits = std::uint64_t{0xF} << process_shift;
  static constexpr unsigned number_shift = 37;
  static constexpr std::uint64_t notification = std::uint64_t{1} << number_shift;
  static constexpr std::uint64_t no_room = 1;  ///< in place of what enter() answers

  /// Whether a notification has come between two states.
  static constexpr bool differ(std::uint64_t one, std::uint64_t other) noexcept {
    return (one ^ other) >> number_shift != 0;
  }
  static std::uint64_t without_parents_threads(std::uint64_t seen) noexcept;
  /// The number before the thread came, and `watched` if this thread is to watch; or `no_room`, and it has not come in.
  /// `guard` is null where wakes cannot be deferred to its unlock.
  TXSYNC_EXPORT std::uint64_t enter(mutex* guard) noexcept;
  TXSYNC_EXPORT void await_leavers() noexcept;
  /// From enter() to the last touch.
  TXSYNC_EXPORT bool sleep(std::uint64_t ticket, std::uint64_t deadline) noexcept;
  void watch(std::uint64_t ticket, std::uint64_t deadline) noexcept;
  static bool sleep_outside(std::uint64_t deadline) noexcept;
  bool leave(std::uint64_t& seen, std::uint64_t ticket, bool late) noexcept;
  TXSYNC_EXPORT void notify(std::uint64_t how_many) noexcept;

  // The two halves of a notification, between which an attempt may have to commit (elided_condition_variable.hpp).
  friend class elided_condition_variable;
  /// Tells `how_many` of those that wait. True: wake() has to follow.
  TXSYNC_EXPORT bool announce(std::uint64_t how_many) noexcept;
  /// By address only: the variable may be gone.
  TXSYNC_EXPORT static void wake(const condition_variable* waited_on, std::uint64_t how_many) noexcept;

  std::atomic<std::uint64_t> state_{0};
  std::atomic<mutex*> guard_{nullptr};  ///< the waiters' mutex
};
static_assert(sizeof(condition_variable) == 16);

}  // namespace txsync::inline TXSYNC_BACKEND
