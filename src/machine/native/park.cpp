// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <txsync/machine/park.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine {

namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;

park_result wait_at(const void* address, std::uint32_t expected, std::uint64_t deadline_ns) noexcept {
  timespec until{};
  timespec* limit = nullptr;
  if (deadline_ns != no_deadline) {
    until.tv_sec = static_cast<time_t>(deadline_ns / ns_per_s);
    until.tv_nsec = static_cast<long>(deadline_ns % ns_per_s);
    limit = &until;
  }
  // FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC, which is clock_ns().
  const int saved_errno = errno;
  const long answer = syscall(SYS_futex, address, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, limit, nullptr,
                              FUTEX_BITSET_MATCH_ANY);
  const int error = errno;
  errno = saved_errno;
  if (answer == 0) return park_result::woken;
  if (error == ETIMEDOUT) return park_result::timed_out;
  if (error == EAGAIN) return park_result::changed;
  return park_result::woken;  // EINTR: spurious
}

unsigned wake_at(const void* address, unsigned count) noexcept {
  const int saved_errno = errno;
  const long woken = syscall(SYS_futex, address, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, nullptr, nullptr, 0);
  errno = saved_errno;
  return woken > 0 ? static_cast<unsigned>(woken) : 0;
}

/// The address of the half of a 64-bit word that holds its high 32 bits.
const void* high_half(const std::atomic<std::uint64_t>& word) noexcept {
  constexpr bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  return reinterpret_cast<const char*>(&word) + (little ? 4 : 0);
}

}  // namespace

park_result park(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t deadline_ns) noexcept {
  return wait_at(&word, expected, deadline_ns);
}

park_result park_high(const std::atomic<std::uint64_t>& word, std::uint32_t expected_high,
                      std::uint64_t deadline_ns) noexcept {
  return wait_at(high_half(word), expected_high, deadline_ns);
}

unsigned unpark(const std::atomic<std::uint32_t>& word, unsigned count) noexcept { return wake_at(&word, count); }

unsigned unpark_high(const std::atomic<std::uint64_t>& word, unsigned count) noexcept {
  return wake_at(high_half(word), count);
}

}  // namespace txsync::inline TXSYNC_BACKEND::machine
