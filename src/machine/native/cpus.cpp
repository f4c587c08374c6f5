// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <ctime>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

#include "futex_wait.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

void yield() noexcept { sched_yield(); }

void sleep_ns(std::uint64_t duration) noexcept {
  // Not by the C library's function, which is a cancellation point: a thread may sleep on its way to a lock. Sandboxes
  // allow this system call to all programs that have locks.
  constexpr std::uint32_t unchanged = 0;
  const std::uint64_t now = clock_ns();
  const std::uint64_t until = now + std::min(duration, no_deadline - 1 - now);
  while (detail::futex_wait(&unchanged, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, unchanged, until) !=
             park_result::timed_out &&
         clock_ns() < until) {
  }
}

namespace {

unsigned count_cpus() noexcept {
  // The CPUs of the process's first thread, whichever thread asks: that thread may be pinned to one CPU.
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const unsigned known =
      sched_getaffinity(getpid(), sizeof allowed, &allowed) == 0 ? static_cast<unsigned>(CPU_COUNT(&allowed)) : 0;
  if (known != 0) return known;
  const long online = sysconf(_SC_NPROCESSORS_ONLN);  // if there are more CPUs than the mask holds
  return online > 0 ? static_cast<unsigned>(online) : 1;
}

// Relaxed: it guards no other data, and every thread would find the same.
constinit std::atomic<unsigned> known_cpus{0};

/// The last result of has_realtime_priority() in the calling thread, and its time: microseconds times two, plus the
/// result. It is small: see src/locks/deferred_wakes.cpp.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint64_t known_priority = 0;

/// Runs at program start, before the program can pin its first thread.
[[gnu::constructor]] void count_cpus_early() noexcept { (void)cpu_count(); }

}  // namespace

unsigned cpu_count() noexcept {
  unsigned known = known_cpus.load(std::memory_order_relaxed);
  if (known == 0) known_cpus.store(known = count_cpus(), std::memory_order_relaxed);
  return known;
}

bool has_realtime_priority() noexcept {
  constexpr std::uint64_t max_age_us = 10'000;
  timespec now{};
  // Exact to a few milliseconds. It does not read the time stamp counter, which would cost more than the rest.
  (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const std::uint64_t now_us =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000;
  if (known_priority != 0 && now_us - known_priority / 2 < max_age_us) return (known_priority & 1) != 0;
  const int saved_errno = errno;
  const int told = sched_getscheduler(0);
  errno = saved_errno;
  const int policy = told < 0 ? SCHED_OTHER : told & ~SCHED_RESET_ON_FORK;
  const bool answer = policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE;
  known_priority = now_us * 2 + (answer ? 1 : 0);
  return answer;
}

bool pin(unsigned cpu) noexcept {
  if (cpu >= CPU_SETSIZE) return false;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
