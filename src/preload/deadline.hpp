// SPDX-License-Identifier: Apache-2.0
// Times in the form that pthread's functions take.
#pragma once

#include <cstdint>
#include <ctime>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

inline constexpr std::uint64_t ns_per_s = 1'000'000'000;

inline bool is_time(const timespec& time) noexcept {
  return time.tv_nsec >= 0 && time.tv_nsec < static_cast<long>(ns_per_s);
}

/// Nanoseconds since the clock's zero; a time before it is zero.
inline std::uint64_t to_ns(const timespec& time) noexcept {
  if (time.tv_sec < 0) return 0;
  const auto seconds = static_cast<std::uint64_t>(time.tv_sec);
  if (seconds >= machine::no_deadline / ns_per_s) return machine::no_deadline - 1;
  return seconds * ns_per_s + static_cast<std::uint64_t>(time.tv_nsec);
}

/// The inverse of to_ns().
inline timespec from_ns(std::uint64_t ns) noexcept {
  return {static_cast<time_t>(ns / ns_per_s), static_cast<long>(ns % ns_per_s)};
}

/// The point on machine::clock_ns() for a time on `clock` (CLOCK_REALTIME or CLOCK_MONOTONIC). If the date is set
/// during a wait, the wait does not follow it.
inline std::uint64_t on_our_clock(clockid_t clock, const timespec& time) noexcept {
  const std::uint64_t then = to_ns(time);
  if (clock == CLOCK_MONOTONIC) return then;
  timespec now_there{};
  clock_gettime(clock, &now_there);
  const std::uint64_t there = to_ns(now_there);
  const std::uint64_t here = machine::clock_ns();
  if (then <= there) return here;
  const std::uint64_t left = then - there;
  return left >= machine::no_deadline - here ? machine::no_deadline - 1 : here + left;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
