// SPDX-License-Identifier: Apache-2.0
// For the uninstrumented half of the program library: functions between a program and libc. Each calls step() once,
// measures, says what libc will read and write, and calls libc. No other thread runs in between.
#pragma once

#include <cstdint>
#include <cstring>
#include <ctime>

#include <txsync_backend/runtime.h>

#include "sim/program.h"

namespace txsync::sim::library {

inline void step() { txsync_sim_step(); }
inline void reads(const void* address, std::size_t bytes) {
  if (bytes > 0) txsync_sim_reads(address, bytes);
}
inline void writes(void* address, std::size_t bytes) {
  if (bytes > 0) txsync_sim_writes(address, bytes);
}

// Announces the read of a string with its end; returns its length.
inline std::size_t reads_string(const char* text) {
  const std::size_t length = std::strlen(text);
  reads(text, length + 1);
  return length;
}
// The same for at most `limit` bytes of the string.
inline std::size_t reads_string(const char* text, std::size_t limit) {
  const std::size_t length = strnlen(text, limit);
  reads(text, length < limit ? length + 1 : limit);
  return length;
}

template <typename T>
void writes_object(T* object) {
  if (object) writes(static_cast<void*>(object), sizeof *object);
}
template <typename T>
void reads_object(const T* object) {
  if (object) reads(static_cast<const void*>(object), sizeof *object);
}

// The time at which every run starts, in ns since 1970.
inline constexpr std::uint64_t start_of_time = TXSYNC_SIM_START_OF_TIME_NS;

inline constexpr std::uint64_t second = 1000000000;  // ns
// A negative time is none.
inline std::uint64_t in_ns(const timespec& time) {
  return time.tv_sec < 0 ? 0
                         : static_cast<std::uint64_t>(time.tv_sec) * second + static_cast<std::uint64_t>(time.tv_nsec);
}

// For what cannot be undone: ends the attempt.
inline void outside(const char* name) { txsync_sim_system_call(name); }
// For what never comes: other threads go on, and if none can, that is a deadlock.
[[noreturn]] inline void wait_for_ever() {
  static const std::uint32_t never = 0;
  while (true) txsync_sim_park(&never, 0, ~std::uint64_t{0});
}

}  // namespace txsync::sim::library
