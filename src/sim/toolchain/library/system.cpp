// SPDX-License-Identifier: Apache-2.0
// The processors, the end of the program, and system calls by number.
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <txsync_backend/runtime.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <ctime>

#include "touch.hpp"

using namespace txsync::sim::library;

extern "C" {

ssize_t txsync_sim_getrandom(void* to, std::size_t bytes, unsigned flags);

void txsync_sim__exit(int status) { txsync_sim_quick_exit(status); }
void txsync_sim__Exit(int status) { txsync_sim_quick_exit(status); }
void txsync_sim___assert_fail(const char* condition, const char* file, unsigned line, const char* function) {
  outside("assert");
  std::fprintf(stderr, "%s:%u: %s: assertion failed: %s\n", file, line, function ? function : "?", condition);
  txsync_sim_abort_program();
}

int txsync_sim_sched_yield(void) {
  txsync_sim_yield();
  return 0;
}
int txsync_sim_sched_getcpu(void) { return static_cast<int>(txsync_sim_cpu()); }
int txsync_sim_getcpu(unsigned* cpu, unsigned* node) {
  step();
  writes_object(cpu);
  writes_object(node);
  if (cpu) *cpu = txsync_sim_cpu();
  if (node) *node = txsync_sim_socket();
  return 0;
}
int txsync_sim_get_nprocs(void) { return static_cast<int>(txsync_sim_program_cpus()); }
int txsync_sim_get_nprocs_conf(void) { return txsync_sim_get_nprocs(); }
int txsync_sim_getpagesize(void) { return static_cast<int>(txsync_sim_page_size()); }
long txsync_sim_sysconf(int name) {
  if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) return txsync_sim_get_nprocs();
  if (name == _SC_PAGESIZE) return txsync_sim_getpagesize();
  return sysconf(name);
}
pid_t txsync_sim_gettid() { return static_cast<pid_t>(txsync_sim_thread_id()) + 1; }
// All memory stays where it is. The heap is the runtime's.
int txsync_sim_mlock(const void*, std::size_t) { return 0; }
int txsync_sim_munlock(const void*, std::size_t) { return 0; }
int txsync_sim_mlockall(int) { return 0; }
int txsync_sim_munlockall() { return 0; }
int txsync_sim_mallopt(int, int) { return 1; }

int txsync_sim_sched_getaffinity(pid_t, std::size_t size, cpu_set_t* to) {
  step();
  writes(to, size);
  std::memset(to, 0, size);
  const bool pinned = txsync_sim_is_pinned() != 0;
  for (unsigned cpu = 0; cpu < txsync_sim_program_cpus() && cpu < size * 8; ++cpu) {
    if (!pinned || cpu == txsync_sim_cpu()) CPU_SET_S(cpu, size, to);
  }
  return 0;
}
int txsync_sim___sched_cpucount(std::size_t size, const cpu_set_t* set) {
  step();
  reads(set, size);
  return CPU_COUNT_S(size, set);
}
// A set of one processor pins the thread to it. A set of several unpins the thread, which stays where it is.
int txsync_sim_sched_setaffinity(pid_t, std::size_t size, const cpu_set_t* set) {
  outside("sched_setaffinity");
  reads(set, size);
  if (CPU_COUNT_S(size, set) != 1) return txsync_sim_unpin(), 0;
  for (unsigned cpu = 0; cpu < size * 8; ++cpu) {
    if (CPU_ISSET_S(cpu, size, set)) return txsync_sim_pin(cpu) ? 0 : (errno = EINVAL, -1);
  }
  return 0;
}

void* txsync_sim_mmap64(void* address, std::size_t bytes, int prot, int flags, int file, std::int64_t offset) {
  return txsync_sim_mmap(address, bytes, prot, flags, file, offset);
}
int txsync_sim_posix_madvise(void* address, std::size_t bytes, int advice) {
  return txsync_sim_madvise(address, bytes, advice);
}
sighandler_t txsync_sim_signal(int number, sighandler_t handler) {
  struct sigaction action{};
  struct sigaction old{};
  action.sa_handler = handler;
  return txsync_sim_sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

}  // extern "C"

namespace {

// FUTEX_WAIT's timeout is a duration; FUTEX_WAIT_BITSET's is a point in time.
long wait_on(const void* word, std::uint32_t expected, const timespec* timeout, bool absolute, bool calendar) {
  std::uint64_t deadline = ~std::uint64_t{0};
  if (timeout) {
    reads_object(timeout);
    const std::uint64_t time = in_ns(*timeout);
    if (!absolute) {
      deadline = txsync_sim_clock_ns() + time;
    } else {
      deadline = calendar ? (time > start_of_time ? time - start_of_time : 0) : time;
    }
  }
  switch (txsync_sim_park(word, expected, deadline)) {
    case 0:
      return 0;
    case 1:
      errno = EAGAIN;
      return -1;
    default:
      errno = ETIMEDOUT;
      return -1;
  }
}

long futex(va_list arguments) {
  const void* word = va_arg(arguments, const void*);
  const int operation = va_arg(arguments, int);
  const auto value = static_cast<std::uint32_t>(va_arg(arguments, long));
  const auto* timeout = va_arg(arguments, const timespec*);
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      return wait_on(word, value, timeout, (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET,
                     (operation & FUTEX_CLOCK_REALTIME) != 0);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
      return txsync_sim_unpark(word, value);
    default:
      txsync_sim_unsupported("futex, other than wait and wake");
  }
}

}  // namespace

extern "C" long txsync_sim_syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long result = 0;
  switch (number) {
    case SYS_futex:
      result = futex(arguments);
      break;
    case SYS_gettid:
      result = txsync_sim_gettid();
      break;
    case SYS_sched_yield:
      result = txsync_sim_sched_yield();
      break;
    case SYS_getcpu: {
      txsync_sim_system_call("getcpu");
      unsigned* cpu = va_arg(arguments, unsigned*);
      result = txsync_sim_getcpu(cpu, va_arg(arguments, unsigned*));
      break;
    }
    case SYS_getrandom: {
      void* to = va_arg(arguments, void*);
      result = txsync_sim_getrandom(to, va_arg(arguments, std::size_t), 0);
      break;
    }
    default:
      txsync_sim_unsupported("syscall()");
  }
  va_end(arguments);
  return result;
}
