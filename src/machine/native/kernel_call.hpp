// SPDX-License-Identifier: Apache-2.0
// System calls by our own instruction, for code that must not call functions that another library has put in place of
// the C library's.
#pragma once

#include <cerrno>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// Returns the kernel's result, or minus an error number. It is not a cancellation point, and errno stays as it was.
/// The calling conventions are those of syscall(2), table "Architecture calling conventions".
inline long kernel_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept {
#if defined(__x86_64__)
  long answer;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  register long sixth asm("r9") = f;
  asm volatile("syscall"
               : "=a"(answer)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return answer;
#elif defined(__aarch64__)
  register long which asm("x8") = number;
  register long first asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long fifth asm("x4") = e;
  register long sixth asm("x5") = f;
  asm volatile("svc #0"
               : "+r"(first)
               : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
               : "memory");
  return first;
#else
#error "the preloaded library is built for x86-64 and AArch64 only"
#endif
}

/// Returns the answer as the C library's functions do.
inline long with_errno(long answer) noexcept {
  constexpr long max_error = 4095;
  if (answer >= 0 || answer < -max_error) return answer;
  errno = static_cast<int>(-answer);
  return -1;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
