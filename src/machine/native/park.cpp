// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <txsync/machine/park.hpp>

#include "futex_wait.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {

constexpr int wait_private = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
constexpr int wake_private = FUTEX_WAKE | FUTEX_PRIVATE_FLAG;

unsigned wake_at(const void* address, int operation, unsigned count) noexcept {
  const int saved_errno = errno;
  const long woken = syscall(SYS_futex, address, operation, count, nullptr, nullptr, 0);
  errno = saved_errno;
  return woken > 0 ? static_cast<unsigned>(woken) : 0;
}

constexpr bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
/// The address of the high, or of the low, 32 bits of a 64-bit word.
const void* high_half(const std::atomic<std::uint64_t>& word) noexcept {
  return reinterpret_cast<const char*>(&word) + (little ? 4 : 0);
}
const void* low_half(const std::atomic<std::uint64_t>& word) noexcept {
  return reinterpret_cast<const char*>(&word) + (little ? 0 : 4);
}

}  // namespace

park_result park(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t deadline_ns) noexcept {
  return detail::futex_wait(&word, wait_private, expected, deadline_ns);
}

park_result park_high(const std::atomic<std::uint64_t>& word, std::uint32_t expected_high,
                      std::uint64_t deadline_ns) noexcept {
  return detail::futex_wait(high_half(word), wait_private, expected_high, deadline_ns);
}

park_result park_low(const std::atomic<std::uint64_t>& word, std::uint32_t expected_low,
                     std::uint64_t deadline_ns) noexcept {
  return detail::futex_wait(low_half(word), wait_private, expected_low, deadline_ns);
}

unsigned unpark(const std::atomic<std::uint32_t>& word, unsigned count) noexcept {
  return wake_at(&word, wake_private, count);
}

unsigned unpark_high(const std::atomic<std::uint64_t>& word, unsigned count) noexcept {
  return wake_at(high_half(word), wake_private, count);
}

unsigned unpark_low(const std::atomic<std::uint64_t>& word, unsigned count) noexcept {
  return wake_at(low_half(word), wake_private, count);
}

park_result park_shared(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                        std::uint64_t deadline_ns) noexcept {
  return detail::futex_wait(&word, FUTEX_WAIT_BITSET, expected, deadline_ns);
}

unsigned unpark_shared(const std::atomic<std::uint32_t>& word, unsigned count) noexcept {
  return wake_at(&word, FUTEX_WAKE, count);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
