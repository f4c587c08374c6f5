// SPDX-License-Identifier: Apache-2.0
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <txsync/machine/asymmetric.hpp>
#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace detail {
constinit std::atomic<bool> fences_are_asymmetric{false};
}

namespace {

bool barrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

// Runs before main. Code that ran earlier used two full fences, which is correct in both cases.
[[gnu::constructor(101)]] void use_membarrier() noexcept {
  const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (commands < 0 || (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
  if (!barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) return;
  detail::fences_are_asymmetric.store(true, std::memory_order_relaxed);
}

}  // namespace

void heavy_fence() noexcept {
  fence();
  if (!detail::fences_are_asymmetric.load(std::memory_order_relaxed)) return;
  const int saved_errno = errno;
  // The second try is for the child of a fork, on a kernel that drops the registration there.
  if (!barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) &&
      (!barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) || !barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))) {
    // The kernel refuses now (a seccomp filter), so full fences are used from here on. The sleep gives time to threads
    // that have just read the old value: a store leaves a CPU's buffer within microseconds.
    detail::fences_are_asymmetric.store(false, std::memory_order_relaxed);
    sleep_ns(1'000'000);
    fence();
  }
  errno = saved_errno;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
