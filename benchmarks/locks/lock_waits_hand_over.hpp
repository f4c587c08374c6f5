// SPDX-License-Identifier: Apache-2.0
// The cases of bench_lock_waits in which threads hand over to one another: by a condition variable, and by priority.
#pragma once

#include <pthread.h>

#include "locks/lock_waits_cases.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Two threads take turns by a condition variable. The signal comes before the unlock, or after it.
template <class Lock>
int run_pair(const case_request& wanted, bool before_unlock) {
  const auto shared = std::make_unique<guarded_turns<Lock>>();
  bool over = false;
  unsigned next = 0;
  const auto work = [&](unsigned self) {
    for (bool mine = true; mine;) {
      shared->lock.lock();
      while (next != self && !over) shared->lock.wait();
      mine = !over;
      shared->count();
      next = 1 - self;
      if (before_unlock) shared->lock.signal();
      shared->lock.unlock();
      if (!before_unlock) shared->lock.signal();
    }
  };
  std::thread threads[] = {std::thread(work, 0), std::thread(work, 1)};
  machine::sleep_ns(run_in_ns);
  const std::uint64_t turns = shared->so_far();
  const std::uint64_t start = machine::clock_ns();
  std::uint64_t done = 0, end = start;
  // On a busy machine a short time may pass without a turn.
  constexpr std::uint64_t max_wait_ns = 10'000'000'000;
  while (done == 0 && end - start < max_wait_ns) {
    machine::sleep_ns(wanted.duration_ns);
    done = shared->so_far() - turns;
    end = machine::clock_ns();
  }
  shared->lock.lock();
  over = true;
  shared->lock.signal();
  shared->lock.unlock();
  for (std::thread& one : threads) one.join();
  if (done == 0) return 1;
  report("turn_ns", static_cast<double>(end - start) / static_cast<double>(done));
  return 0;
}

struct realtime_thread {
  pthread_t handle{};
  bool started = false;

  realtime_thread(int priority, void* (*function)(void*), void* argument) {
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setinheritsched(&how, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&how, SCHED_FIFO);
    sched_param parameters{};
    parameters.sched_priority = priority;
    pthread_attr_setschedparam(&how, &parameters);
    started = pthread_create(&handle, &how, function, argument) == 0;
    pthread_attr_destroy(&how);
  }
  void join() const {
    if (started) pthread_join(handle, nullptr);
  }
};

/// A thread of priority 5 retakes the lock and signals; one of priority 50 asks for the lock every 50 us. To be run on
/// one CPU.
template <class Lock>
int run_realtime(const case_request& wanted) {
  struct both {
    guarded_turns<Lock> shared;
    std::atomic<bool> over{false};
    std::uint64_t section_ns = 0;
    std::uint64_t high = 0, low = 0;
  };
  const auto all = std::make_unique<both>();
  all->section_ns = wanted.section_ns;
  const auto work_low = [](void* argument) -> void* {
    both& here = *static_cast<both*>(argument);
    // relaxed: the counts are read after the threads are joined
    for (; !here.over.load(std::memory_order_relaxed); ++here.low) {
      here.shared.lock.lock();
      here.shared.lock.signal();
      stay_until(machine::clock_ns() + here.section_ns);
      here.shared.lock.unlock();
    }
    return nullptr;
  };
  const auto work_high = [](void* argument) -> void* {
    both& here = *static_cast<both*>(argument);
    for (; !here.over.load(std::memory_order_relaxed); ++here.high) {
      machine::sleep_ns(50'000);
      here.shared.lock.lock();
      here.shared.lock.unlock();
    }
    return nullptr;
  };
  // Above both, or this thread could not end them.
  sched_param own{};
  own.sched_priority = 60;
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &own) != 0) {
    report("refused", 1);
    return 0;
  }
  const realtime_thread low(5, work_low, all.get()), high(50, work_high, all.get());
  if (low.started && high.started) machine::sleep_ns(wanted.duration_ns);
  all->over = true;
  high.join();
  low.join();
  report("refused", low.started && high.started ? 0 : 1);
  report("high_turns", static_cast<double>(all->high));
  report("low_turns", static_cast<double>(all->low));
  return 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
