// SPDX-License-Identifier: Apache-2.0
// What the libraries ask of the system while a lock call runs. They are linked with --wrap for each function here,
// since another preloaded library may have replaced it. For example, libfaketime takes locks in its getpid() and
// fstat(), and these locks are ours. Nor is its clock the one by which the kernel ends a sleep.
// tests/preload/symbol_versions.sh lists the functions of the C library that may still be called.
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>

#include <txsync_backend/name.hpp>

#include "found_once.hpp"
#include "machine/native/kernel_call.hpp"
#include "sandbox.hpp"

namespace {

using txsync::machine::detail::kernel_call;
using txsync::machine::detail::with_errno;

/// The clock is the C library's, which needs no system call.
struct clock_function {
  decltype(&clock_gettime) read;
};

void find(clock_function& out) noexcept { txsync::preload::find_next(out.read, "clock_gettime"); }

const clock_function& real_clock() noexcept { return txsync::preload::found_once<clock_function, find>(); }

// Early, so that no later call has to look for it.
[[gnu::constructor]] void find_now() noexcept { (void)real_clock(); }

long word(const void* pointer) noexcept { return reinterpret_cast<long>(pointer); }

long ask(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept {
  if (!txsync::preload::may_call(number)) [[unlikely]]
    return with_errno(-EPERM);
  return with_errno(kernel_call(number, a, b, c, d, e, f));
}
int ask_int(long number, long a = 0, long b = 0, long c = 0, long d = 0) noexcept {
  return static_cast<int>(ask(number, a, b, c, d));
}

}  // namespace

extern "C" {

int __wrap_clock_gettime(clockid_t clock, timespec* now) noexcept { return real_clock().read(clock, now); }
time_t __wrap_time(time_t* out) noexcept {
  timespec now{};
  (void)__wrap_clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

// The arguments of a variadic function lie in the same registers.
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  return ask(number, a, b, c, d, e, f);
}

int __wrap_sched_yield() noexcept {
  if (txsync::preload::may_call(SYS_sched_yield)) [[likely]]
    return ask_int(SYS_sched_yield);
  // A short sleep, by a call that every program with locks is allowed.
  const std::uint32_t unchanged = 0;
  const timespec moment{0, 1'000};
  (void)kernel_call(SYS_futex, word(&unchanged), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, word(&moment));
  return 0;
}
int __wrap_sched_getscheduler(pid_t thread) noexcept { return ask_int(SYS_sched_getscheduler, thread); }
int __wrap_sched_getaffinity(pid_t thread, std::size_t bytes, cpu_set_t* set) noexcept {
  const long written = ask(SYS_sched_getaffinity, thread, static_cast<long>(bytes), word(set));
  if (written < 0) return -1;
  std::memset(reinterpret_cast<char*>(set) + written, 0, bytes - static_cast<std::size_t>(written));
  return 0;
}

pid_t __wrap_getpid() noexcept { return ask_int(SYS_getpid); }
pid_t __wrap_gettid() noexcept { return ask_int(SYS_gettid); }
int __wrap_kill(pid_t process, int signal) noexcept { return ask_int(SYS_kill, process, signal); }

// On these processors the C library's struct stat is the kernel's.
int __wrap_fstat(int file, struct stat* about) noexcept { return ask_int(SYS_fstat, file, word(about)); }
int __wrap_stat(const char* path, struct stat* about) noexcept {
  return ask_int(SYS_newfstatat, AT_FDCWD, word(path), word(about), 0);
}
int __wrap_open(const char* path, int flags, mode_t mode) noexcept {
  return ask_int(SYS_openat, AT_FDCWD, word(path), flags, static_cast<long>(mode));
}
int __wrap_close(int file) noexcept { return ask_int(SYS_close, file); }
int __wrap_fcntl(int file, int command, long argument) noexcept { return ask_int(SYS_fcntl, file, command, argument); }
ssize_t __wrap_readlink(const char* path, char* out, std::size_t bytes) noexcept {
  return ask(SYS_readlinkat, AT_FDCWD, word(path), word(out), static_cast<long>(bytes));
}

// The cancellation point of src/machine/native/cancel.cpp. It is the C library's, and is left out where it may not be.
ssize_t __real_read(int file, void* into, std::size_t bytes);
ssize_t __wrap_read(int file, void* into, std::size_t bytes) {
  if (!txsync::preload::may_call(SYS_read)) [[unlikely]]
    return with_errno(-EPERM);
  return __real_read(file, into, bytes);
}

void* __wrap_mmap(void* address, std::size_t bytes, int rights, int flags, int file, off_t begin) noexcept {
  return reinterpret_cast<void*>(ask(SYS_mmap, word(address), static_cast<long>(bytes), rights, flags, file, begin));
}
int __wrap_munmap(void* address, std::size_t bytes) noexcept {
  return ask_int(SYS_munmap, word(address), static_cast<long>(bytes));
}
int __wrap_madvise(void* address, std::size_t bytes, int advice) noexcept {
  return ask_int(SYS_madvise, word(address), static_cast<long>(bytes), advice);
}

}  // extern "C"
