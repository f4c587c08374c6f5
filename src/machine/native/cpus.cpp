// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <ctime>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include <txsync/machine/thread.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine {

void yield() noexcept { sched_yield(); }

void sleep_ns(std::uint64_t duration) noexcept {
  // Not by the C library's function, which is a cancellation point: a thread may sleep on its way to a lock.
  const int saved_errno = errno;
  timespec left{static_cast<time_t>(duration / 1'000'000'000), static_cast<long>(duration % 1'000'000'000)};
  while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &left, &left) != 0 && errno == EINTR) {
  }
  errno = saved_errno;
}

unsigned cpu_count() noexcept {
  // Read once by whoever asks first; the answers are the same. Relaxed: it guards no other data.
  static constinit std::atomic<unsigned> count{0};
  unsigned known = count.load(std::memory_order_relaxed);
  if (known == 0) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    known = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? static_cast<unsigned>(CPU_COUNT(&allowed)) : 0;
    if (known == 0) {  // more CPUs than the mask holds
      const long online = sysconf(_SC_NPROCESSORS_ONLN);
      known = online > 0 ? static_cast<unsigned>(online) : 1;
    }
    count.store(known, std::memory_order_relaxed);
  }
  return known;
}

bool pin(unsigned cpu) noexcept {
  if (cpu >= CPU_SETSIZE) return false;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
}

}  // namespace txsync::inline TXSYNC_BACKEND::machine
