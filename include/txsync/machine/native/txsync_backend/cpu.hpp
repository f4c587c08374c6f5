// SPDX-License-Identifier: Apache-2.0
// Native hints, fences and cycle counters.
#pragma once

#include <atomic>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

inline void prefetch_read(const void* address) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetcht0 %0" ::"m"(*static_cast<const char*>(address)));
#elif defined(__aarch64__)
  asm volatile("prfm pldl1keep, [%0]" ::"r"(address));
#elif defined(__powerpc64__)
  asm volatile("dcbt 0, %0" ::"r"(address));
#else
  __builtin_prefetch(address, 0);
#endif
}

inline void prefetch_write(const void* address) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" ::"m"(*static_cast<const char*>(address)));
#elif defined(__aarch64__)
  asm volatile("prfm pstl1keep, [%0]" ::"r"(address));
#elif defined(__powerpc64__)
  asm volatile("dcbtst 0, %0" ::"r"(address));
#else
  __builtin_prefetch(address, 1);
#endif
}

inline void fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void compiler_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

inline void relax() noexcept {
#if defined(__x86_64__)
  asm volatile("pause");
#elif defined(__aarch64__)
  asm volatile("isb");  // yield is a no-op on most cores
#elif defined(__powerpc64__)
  asm volatile("or 31, 31, 31");
#else
  asm volatile("");
#endif
}

inline std::uint64_t cycles() noexcept {
#if defined(__x86_64__)
  std::uint32_t low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return (std::uint64_t{high} << 32) | low;
#elif defined(__aarch64__)
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#elif defined(__powerpc64__)
  std::uint64_t value;
  asm volatile("mfspr %0, 268" : "=r"(value));  // time base
  return value;
#elif defined(__s390x__)
  std::uint64_t value;
  asm volatile("stckf %0" : "=Q"(value)::"cc");
  return value;
#else
  return clock_ns();
#endif
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
