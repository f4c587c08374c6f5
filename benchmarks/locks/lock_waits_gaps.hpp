// SPDX-License-Identifier: Apache-2.0
// Finds when a CPU was not available: one thread on each CPU does nothing but read the clock.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <thread>
#include <vector>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

inline constexpr std::uint64_t min_gap_ns = 200'000;

struct interval_ns {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t length() const noexcept { return end - start; }
};

/// Reads the clock every 100 us, with the lowest real-time priority if that is allowed. Then a gap is time in which the
/// CPU was not available, not time that the measured threads had.
class clock_reader {
 public:
  explicit clock_reader(int cpu) : thread_([this, cpu] { work(cpu); }) {}
  ~clock_reader() { stop(); }
  clock_reader(const clock_reader&) = delete;
  clock_reader& operator=(const clock_reader&) = delete;

  void stop() {
    // relaxed: the gaps are read after the thread is joined
    stopped_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
  }
  /// Requires: stopped.
  const std::vector<interval_ns>& gaps() const noexcept { return gaps_; }
  bool realtime() const noexcept { return realtime_; }

 private:
  void work(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    (void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    sched_param lowest{};
    lowest.sched_priority = 1;
    realtime_ = pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest) == 0;
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    std::uint64_t last = machine::clock_ns();
    while (!stopped_.load(std::memory_order_relaxed)) {
      machine::sleep_ns(100'000);
      const std::uint64_t now = machine::clock_ns();
      if (now - last >= min_gap_ns) gaps_.push_back({last, now});
      last = now;
    }
  }

  std::vector<interval_ns> gaps_;
  std::atomic<bool> stopped_{false};
  bool realtime_ = false;
  std::thread thread_;  // last: it uses the others
};

/// One reader on each CPU that this process may use.
class clock_readers {
 public:
  clock_readers() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) all_.emplace_back(cpu);
    }
  }
  void stop() {
    for (clock_reader& one : all_) one.stop();
  }
  /// Whether one of them saw a gap during the wait that is at least as long.
  bool explain(const interval_ns& wait) const noexcept {
    for (const clock_reader& one : all_) {
      for (const interval_ns& gap : one.gaps()) {
        if (gap.length() >= wait.length() && gap.start < wait.end && wait.start < gap.end) return true;
      }
    }
    return false;
  }
  bool realtime() const noexcept { return !all_.empty() && all_.front().realtime(); }
  std::size_t gaps() const noexcept {
    std::size_t sum = 0;
    for (const clock_reader& one : all_) sum += one.gaps().size();
    return sum;
  }

 private:
  std::list<clock_reader> all_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
