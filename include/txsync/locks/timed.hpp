// SPDX-License-Identifier: Apache-2.0
// Deadlines of the standard's clocks, for locks that wait until a value of machine::clock_ns().
#pragma once

#include <chrono>
#include <cstdint>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread_annotations.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace detail {

using ns_as_double = std::chrono::duration<double, std::nano>;

/// Nanoseconds from one time to another of the same clock. Durations of the clock may be too narrow for the distance. A
/// clock's epoch may be any time (file_clock's is in 2174), and its last time is its maximum value. The result is exact
/// for times that lie near each other.
template <class Clock, class From, class To>
double ns_between(const std::chrono::time_point<Clock, From>& from, const std::chrono::time_point<Clock, To>& to) {
  constexpr double near = 1e15;
  const double apart = ns_as_double(to.time_since_epoch()).count() - ns_as_double(from.time_since_epoch()).count();
  return apart > -near && apart < near ? ns_as_double(to - from).count() : apart;
}

/// The value that machine::clock_ns() will have in `ns` nanoseconds. A time that is further away than a hundred years
/// never comes.
inline std::uint64_t deadline_after_ns(double ns) noexcept {
  constexpr double too_far = 4e18;
  if (ns >= too_far) return machine::no_deadline;
  const std::uint64_t now = machine::clock_ns();
  return ns > 0 ? now + static_cast<std::uint64_t>(ns) : now;  // also if it is not a number
}

template <class Rep, class Period>
std::uint64_t deadline_after(const std::chrono::duration<Rep, Period>& time) {
  return deadline_after_ns(ns_as_double(time).count());
}
/// As deadline_after(), for the time that is left until `time`.
template <class Clock, class Duration>
std::uint64_t deadline_at(const std::chrono::time_point<Clock, Duration>& time) {
  return deadline_after_ns(ns_between(Clock::now(), time));
}
template <class Clock, class Duration>
bool has_come(const std::chrono::time_point<Clock, Duration>& time) {
  return !(ns_between(Clock::now(), time) > 0);
}

/// Calls `try_until_ns(deadline)` until it succeeds, or until the time has come on its own clock. That clock may have
/// been set back when machine::clock_ns() reaches the deadline.
template <class Clock, class Duration, class Try>
bool try_until(const std::chrono::time_point<Clock, Duration>& time, Try try_until_ns) {
  do {
    if (try_until_ns(deadline_at(time))) return true;
  } while (!has_come(time));
  return false;
}

template <class Lock>
concept has_deadlines = requires(Lock& lock) { lock.try_lock_until_ns(std::uint64_t{}); };
template <class Lock>
concept has_shared_deadlines = requires(Lock& lock) { lock.try_lock_shared_until_ns(std::uint64_t{}); };

/// Makes a lock that has_deadlines TimedLockable. A deadline is measured by the clock that it is given on. If the wait
/// ends and that clock was set back in the meantime, the thread goes on waiting.
template <class Lock>
class TXSYNC_CAPABILITY("mutex") timed {
 public:
  /// Tries for that long. If the time is zero or less, it tries once, as try_lock().
  template <class Rep, class Period, class Self = Lock>
    requires has_deadlines<Self>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& time) TXSYNC_TRY_LOCKS {
    return static_cast<Self&>(*this).try_lock_until_ns(deadline_after(time));
  }
  /// Tries until `time`.
  template <class Clock, class Duration, class Self = Lock>
    requires has_deadlines<Self>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) TXSYNC_TRY_LOCKS {
    return try_until(time, [this](std::uint64_t ns) { return static_cast<Self&>(*this).try_lock_until_ns(ns); });
  }

 private:
  friend Lock;
  constexpr timed() noexcept = default;
};

/// Makes a lock that has_shared_deadlines SharedTimedLockable as well.
template <class Lock>
class TXSYNC_CAPABILITY("shared_mutex") timed_shared {
 public:
  template <class Rep, class Period, class Self = Lock>
    requires has_shared_deadlines<Self>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& time) TXSYNC_TRY_LOCKS_SHARED {
    return static_cast<Self&>(*this).try_lock_shared_until_ns(deadline_after(time));
  }
  template <class Clock, class Duration, class Self = Lock>
    requires has_shared_deadlines<Self>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time)
      TXSYNC_TRY_LOCKS_SHARED {
    return try_until(time, [this](std::uint64_t ns) { return static_cast<Self&>(*this).try_lock_shared_until_ns(ns); });
  }

 private:
  friend Lock;
  constexpr timed_shared() noexcept = default;
};

}  // namespace detail

}  // namespace txsync::TXSYNC_INLINE_BACKEND
