// SPDX-License-Identifier: Apache-2.0
// Threads that ask for one lock: how long each waits, and how many sections of others pass it by meanwhile.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

#include "locks/lock_waits_gaps.hpp"
#include "workloads/harness/wait_clock.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

struct case_request {
  unsigned threads = 2;
  std::uint64_t section_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t seed = 1;
};

enum class stage : int { run_in, measured, over };

/// The lock, and the number of sections under it so far: the lock guards it.
template <class Lock>
struct guarded_turns {
  alignas(machine::pad_bytes) Lock lock;
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> turns{0};

  // relaxed, all: the lock orders the stores; a waiter that reads an old value before it asks counts too many turns
  std::uint64_t so_far() const noexcept { return turns.load(std::memory_order_relaxed); }
  void count() noexcept { turns.store(so_far() + 1, std::memory_order_relaxed); }
};

struct alignas(machine::pad_bytes) worker {
  workloads::wait_record waits;
  std::vector<interval_ns> long_waits;  ///< those of min_gap_ns and more, which a gap may explain
  std::uint64_t max_short_ns = 0;       ///< of the others
  std::uint64_t max_turns = 0;
  std::uint64_t operations = 0;
  std::uint64_t end_ns = 0;
  std::vector<std::uint32_t> bins;  ///< operations by millisecond since `bins_from`; later ones are not counted

  void note(std::uint64_t asked, std::uint64_t got, std::uint64_t turns) {
    max_turns = std::max(max_turns, turns);
    if (got - asked >= min_gap_ns) {
      long_waits.push_back({asked, got});
    } else {
      max_short_ns = std::max(max_short_ns, got - asked);
    }
  }
};

inline void stay_until(std::uint64_t end_ns) noexcept {
  while (machine::clock_ns() < end_ns) {
  }
}

/// Takes the lock in a loop without a pause, and measures no waits.
template <class Lock>
void hold(guarded_turns<Lock>& shared, const std::atomic<stage>& now, std::uint64_t section_ns, worker& self) {
  // relaxed, all loads of the stage: the results of the threads are read after they are joined
  while (now.load(std::memory_order_relaxed) != stage::over) {
    shared.lock.lock();
    shared.count();
    stay_until(machine::clock_ns() + section_ns);
    shared.lock.unlock();
    if (now.load(std::memory_order_relaxed) == stage::measured) ++self.operations;
  }
}

/// Asks for the lock every 200 us, and holds it for a moment.
template <class Lock>
void ask(guarded_turns<Lock>& shared, const std::atomic<stage>& now, std::uint64_t first_ns, worker& self) {
  constexpr std::uint64_t pause_ns = 200'000;
  machine::sleep_ns(first_ns % pause_ns);
  while (now.load(std::memory_order_relaxed) != stage::over) {
    machine::sleep_ns(pause_ns);
    const bool counts = now.load(std::memory_order_relaxed) == stage::measured;
    const std::uint64_t asked = machine::clock_ns();
    self.waits.clock.begin(asked, machine::thread_cpu_ns);
    const std::uint64_t before = shared.so_far();
    shared.lock.lock();
    const std::uint64_t got = machine::clock_ns();
    const std::uint64_t turns = shared.so_far() - before;
    shared.count();
    shared.lock.unlock();
    const std::uint64_t cpu_ns = self.waits.clock.end(asked, got - asked, machine::clock_ns(), machine::thread_cpu_ns);
    if (!counts) continue;
    ++self.operations;
    self.waits.add(got - asked, cpu_ns);
    self.note(asked, got, turns);
  }
}

/// Takes the lock in a loop, with as little as possible between two sections. So the CPU time of all waits together is
/// what the thread used outside its sections.
template <class Lock>
void loop(guarded_turns<Lock>& shared, const std::atomic<stage>& now, std::uint64_t section_ns, std::uint64_t bins_from,
          worker& self) {
  std::uint64_t cpu_before = 0;
  bool counts = false;
  while (now.load(std::memory_order_relaxed) != stage::over) {
    if (!counts && now.load(std::memory_order_relaxed) == stage::measured) {
      counts = true;
      cpu_before = machine::thread_cpu_ns();
    }
    const std::uint64_t asked = machine::clock_ns();
    const std::uint64_t before = shared.so_far();
    shared.lock.lock();
    const std::uint64_t got = machine::clock_ns();
    const std::uint64_t turns = shared.so_far() - before;
    shared.count();
    stay_until(got + section_ns);
    shared.lock.unlock();
    if (!counts) continue;
    ++self.operations;
    self.waits.add(got - asked, 0);
    self.note(asked, got, turns);
    const std::uint64_t bin = (got - bins_from) / 1'000'000;
    if (bin < self.bins.size()) ++self.bins[bin];
  }
  self.end_ns = machine::clock_ns();
  if (!counts) return;
  const std::uint64_t cpu_ns = machine::thread_cpu_ns() - cpu_before;
  const std::uint64_t inside_ns = self.operations * section_ns;
  self.waits.cpu_ns = cpu_ns > inside_ns ? cpu_ns - inside_ns : 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
