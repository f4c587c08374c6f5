// SPDX-License-Identifier: Apache-2.0
// How long the operations of a thread wait for locks, and how much CPU time the waits use.
#pragma once

#include <algorithm>
#include <cstdint>

#include <txsync/machine/cpu.hpp>

#include "workloads/harness/histogram.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// Divides the CPU time of a thread into waiting and the rest. Reading the thread's CPU clock takes a system call of
/// some 100 ns. So it is read only around intervals of `long_ns` and more, during which the thread may be off the CPU.
/// Shorter intervals are assumed to be all on the CPU. All times are in nanoseconds.
class wait_clock {
 public:
  static constexpr std::uint64_t long_ns = 5'000;

  /// From here on, begin() and end() are called for every operation of the thread. Call it before the first operation,
  /// and again after a gap.
  void start(std::uint64_t now, std::uint64_t cpu) noexcept {
    marked_ = left_ = now;
    marked_cpu_ = cpu;
  }

  /// Call it before an operation asks for its lock. `cpu` is called if the time since the last operation is long.
  template <class CpuClock>
  void begin(std::uint64_t now, const CpuClock& cpu) noexcept {
    if (minus(now, left_) >= long_ns) start(now, cpu());
  }

  /// Call it after the operation that began at `began` and waited for `waited` in all. Returns the CPU time of the
  /// wait. That is the wait itself if it was short; otherwise the CPU clock's time minus the section. A section is
  /// assumed to run all the time, but not longer than the available CPU time.
  template <class CpuClock>
  std::uint64_t end(std::uint64_t began, std::uint64_t waited, std::uint64_t now, const CpuClock& cpu) noexcept {
    const std::uint64_t section = minus(now - began, waited);
    left_ = now;
    if (waited < long_ns && section < long_ns) return waited;
    const std::uint64_t marked = marked_, marked_cpu = marked_cpu_;
    start(now, cpu());
    const std::uint64_t used = minus(marked_cpu_ - marked_cpu, began - marked);
    return std::min(minus(used, section), waited);
  }

 private:
  static constexpr std::uint64_t minus(std::uint64_t from, std::uint64_t part) noexcept {
    return from > part ? from - part : 0;
  }

  std::uint64_t left_ = 0;        ///< the end of the last operation
  std::uint64_t marked_ = 0;      ///< when the CPU clock was read; since then there were only short intervals
  std::uint64_t marked_cpu_ = 0;  ///< what the CPU clock said
};

/// What a thread records about its waits if every operation is timed.
struct alignas(machine::pad_bytes) wait_record {
  wait_clock clock;
  latency_histogram lengths;
  std::uint64_t max_ns = 0;
  std::uint64_t cpu_ns = 0;

  void add(std::uint64_t wait_ns, std::uint64_t wait_cpu_ns) noexcept {
    lengths.add(wait_ns);
    max_ns = std::max(max_ns, wait_ns);
    cpu_ns += wait_cpu_ns;
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
