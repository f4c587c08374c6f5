// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/restartable.hpp>
#include <txsync/machine/thread.hpp>

#if TXSYNC_NATIVE_RSEQ
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc 2.35 and later register every thread; weak, so that older ones still link.
extern "C" {
extern const std::ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
}
#endif

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

#if TXSYNC_NATIVE_RSEQ

namespace detail {
constinit std::atomic<std::ptrdiff_t> rseq_field{0};
}

namespace {

constexpr std::ptrdiff_t offset_of_rseq_cs = 8;  // struct rseq: cpu_id_start, cpu_id, rseq_cs (linux/rseq.h)

// Runs before main. Locks used earlier release by compare-exchange, which is always correct: membarrier_releases() is a
// full barrier as well. A word may be released in either way.
[[gnu::constructor(101)]] void use_restartable_sequences() noexcept {
  if (&__rseq_size == nullptr || &__rseq_offset == nullptr || __rseq_size == 0) return;
  const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (commands < 0 || (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ) == 0) return;
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0) != 0) return;
  detail::rseq_field.store(__rseq_offset + offset_of_rseq_cs, std::memory_order_relaxed);
}

bool restart_all_sequences() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0) == 0;
}

/// For the child of a fork, on a kernel that drops the registration there.
bool register_and_restart() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0) == 0 && restart_all_sequences();
}

}  // namespace

void membarrier_releases() noexcept {
  if (detail::rseq_field.load(std::memory_order_relaxed) == 0) return fence();
  const int saved_errno = errno;
  // Restarts every sequence that runs on another CPU. Sequences of preempted threads were restarted by the preemption.
  if (!restart_all_sequences() && !register_and_restart()) {
    // Supported at the start, but refused now (a seccomp filter): no more sequences from here on. The sleep gives time
    // to sequences that are running on other CPUs. They are three instructions long, and an interruption restarts them.
    detail::rseq_field.store(0, std::memory_order_relaxed);
    sleep_ns(1'000'000);
    fence();
  }
  errno = saved_errno;
}

bool releases_are_restartable() noexcept { return detail::rseq_field.load(std::memory_order_relaxed) != 0; }

#else

void membarrier_releases() noexcept { fence(); }
bool releases_are_restartable() noexcept { return false; }

#endif

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
