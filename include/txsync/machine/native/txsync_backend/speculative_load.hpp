// SPDX-License-Identifier: Apache-2.0
// Loads that neither the compiler nor a sanitizer regards as an access to an object.
#pragma once

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

template <class T>
inline T speculative_load(const T* place) noexcept {
  constexpr unsigned bytes = sizeof(T);  // NOLINT(bugprone-sizeof-expression): pointers are read too
  static_assert(std::is_scalar_v<T> && bytes <= 8);
#if defined(__x86_64__)
  if constexpr (!std::is_floating_point_v<T>) {
    T seen;
    if constexpr (bytes == 1) {
      asm volatile("movb %1, %0" : "=q"(seen) : "m"(*place));
    } else if constexpr (bytes == 2) {
      asm volatile("movw %1, %0" : "=r"(seen) : "m"(*place));
    } else if constexpr (bytes == 4) {
      asm volatile("movl %1, %0" : "=r"(seen) : "m"(*place));
    } else {
      asm volatile("movq %1, %0" : "=r"(seen) : "m"(*place));
    }
    return seen;
  } else if constexpr (bytes == 4) {
    return __builtin_bit_cast(float, speculative_load(reinterpret_cast<const std::uint32_t*>(place)));
  } else {
    return __builtin_bit_cast(double, speculative_load(reinterpret_cast<const std::uint64_t*>(place)));
  }
#else
  return *const_cast<const volatile T*>(place);  // the sanitizers run on x86-64
#endif
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
