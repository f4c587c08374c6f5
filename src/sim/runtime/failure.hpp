// SPDX-License-Identifier: Apache-2.0
// How a simulation ends that cannot continue: with one line, among the records or on the standard error, which says how
// to replay it.
#pragma once

#include <cstdint>

namespace txsync::sim {

/// The exit status of an image whose simulation failed. The program's own exit status is another matter.
inline constexpr int failure_status = 99;

/// A line of text in a fixed buffer: no allocator, no locale.
class line_text {
 public:
  line_text& operator<<(const char* text) noexcept;
  line_text& operator<<(std::uint64_t number) noexcept;
  line_text& hexadecimal(std::uint64_t number) noexcept;
  const char* text() const noexcept { return buffer_; }
  unsigned size() const noexcept { return size_; }

 private:
  void put(char c) noexcept {
    if (size_ < sizeof buffer_ - 1) buffer_[size_++] = c;
  }
  char buffer_[4096] = {};
  unsigned size_ = 0;
};

/// From now on, these also end the simulation in this way: a crash of the program, a thread that computes for ever,
/// SIGINT and SIGTERM.
void catch_crashes(std::uint64_t patience_s) noexcept;

[[noreturn]] void fail(const char* what) noexcept;
[[noreturn]] void fail(const line_text& what) noexcept;

/// TXSYNC_ASSERT of this floor, which uses nothing above it: ends the simulation with the sentence. On where
/// TXSYNC_ASSERTIONS is 1 (machine/assert.hpp). Elsewhere the condition is not evaluated.
#if TXSYNC_ASSERTIONS
#define TXSYNC_SIM_ASSERT(condition, sentence) \
  ((condition) ? static_cast<void>(0) : ::txsync::sim::fail("this does not hold: " sentence))
#else
#define TXSYNC_SIM_ASSERT(condition, sentence) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif

}  // namespace txsync::sim
