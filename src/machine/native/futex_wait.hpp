// SPDX-License-Identifier: Apache-2.0
// The kernel's futex wait for park() and park_cancelably().
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <txsync/machine/park.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// `operation` is FUTEX_WAIT_BITSET, which takes an absolute time, with flags. The time is of CLOCK_MONOTONIC, which is
/// clock_ns(), or of CLOCK_REALTIME with FUTEX_CLOCK_REALTIME. Leaves errno as it was. The system call itself is not a
/// cancellation point.
inline park_result futex_wait(const void* address, int operation, std::uint32_t expected,
                              std::uint64_t deadline_ns) noexcept {
  constexpr std::uint64_t ns_per_s = 1'000'000'000;
  timespec until{};
  timespec* limit = nullptr;
  if (deadline_ns != no_deadline) {
    until.tv_sec = static_cast<time_t>(deadline_ns / ns_per_s);
    until.tv_nsec = static_cast<long>(deadline_ns % ns_per_s);
    limit = &until;
  }
  const int saved_errno = errno;
  const long answer = syscall(SYS_futex, address, operation, expected, limit, nullptr, FUTEX_BITSET_MATCH_ANY);
  const int error = errno;
  errno = saved_errno;
  if (answer == 0) return park_result::woken;
  if (error == ETIMEDOUT) return park_result::timed_out;
  if (error == EAGAIN) return park_result::changed;
  return park_result::woken;  // EINTR: spurious
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
