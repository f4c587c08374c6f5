// SPDX-License-Identifier: Apache-2.0
// prctl() and syscall(), which install filters of system calls. Everything else goes to the functions behind ours.
#include "sandbox.hpp"

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <txsync/machine/thread.hpp>

#include "interpose.hpp"
#include "machine/native/kernel_call.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

using system_function = long (*)(long, long, long, long, long, long, long);
using prctl_function = int (*)(int, long, long, long, long);
// Null until the constructor has run: until then the kernel is called directly. relaxed: pointers to existing code
constinit std::atomic<system_function> next_syscall{nullptr};
constinit std::atomic<prctl_function> next_prctl{nullptr};

[[gnu::constructor]] void find_next() noexcept {
  next_syscall.store(reinterpret_cast<system_function>(dlsym(RTLD_NEXT, "syscall")), std::memory_order_relaxed);
  next_prctl.store(reinterpret_cast<prctl_function>(dlsym(RTLD_NEXT, "prctl")), std::memory_order_relaxed);
}

/// To be called before a filter is installed. If that fails, the calls were given up in vain: that costs time and
/// counts only.
void give_up_calls(std::uint32_t calls) noexcept {
  // relaxed: a set. Threads that have just read it get the time to make their call.
  if ((calls_given_up.fetch_or(calls, std::memory_order_relaxed) & calls) != calls) machine::sleep_ns(1'000'000);
}

/// Without a filter nothing happens: so programs ask whether the kernel knows filters.
void expect_filter(const sock_fprog* filter) noexcept {
  if (filter != nullptr && filter->filter != nullptr) give_up_calls(calls_that_end_in(*filter));
}

[[gnu::noinline]] void expect_seccomp(long operation, long argument) noexcept {
  if (operation == SECCOMP_SET_MODE_STRICT) give_up_calls(every_call);
  if (operation == SECCOMP_SET_MODE_FILTER) expect_filter(reinterpret_cast<const sock_fprog*>(argument));
}
[[gnu::noinline]] void expect_mode(long mode, long argument) noexcept {
  if (mode == SECCOMP_MODE_STRICT) give_up_calls(every_call);
  if (mode == SECCOMP_MODE_FILTER) expect_filter(reinterpret_cast<const sock_fprog*>(argument));
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

using namespace txsync;
using namespace txsync::preload;

// Under our own names, since the C library's headers declare them with any number of arguments. The arguments lie in
// the same registers.
TXSYNC_INTERPOSE long txsync_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept
    TXSYNC_LINKED_AS("syscall");
long txsync_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  if (number == SYS_seccomp) [[unlikely]]
    expect_seccomp(a, c);
  const system_function next = next_syscall.load(std::memory_order_relaxed);
  if (next == nullptr) [[unlikely]]
    return machine::detail::with_errno(machine::detail::kernel_call(number, a, b, c, d, e, f));
  return next(number, a, b, c, d, e, f);
}

TXSYNC_INTERPOSE int txsync_prctl(int option, long a, long b, long c, long d) noexcept TXSYNC_LINKED_AS("prctl");
int txsync_prctl(int option, long a, long b, long c, long d) noexcept {
  if (option == PR_SET_SECCOMP) [[unlikely]]
    expect_mode(a, b);
  const prctl_function next = next_prctl.load(std::memory_order_relaxed);
  if (next == nullptr) [[unlikely]]
    return static_cast<int>(machine::detail::with_errno(machine::detail::kernel_call(SYS_prctl, option, a, b, c, d)));
  return next(option, a, b, c, d);
}
