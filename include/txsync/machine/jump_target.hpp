// SPDX-License-Identifier: Apache-2.0
// The seam: jumps back, over frames, to a marked place.
#pragma once

#include <csetjmp>

#include <txsync_backend/name.hpp>

#if defined(__SANITIZE_THREAD__)
#define TXSYNC_BUILTIN_JUMPS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TXSYNC_BUILTIN_JUMPS 0
#endif
#endif
#if !defined(TXSYNC_BUILTIN_JUMPS)
#if defined(__x86_64__)
#define TXSYNC_BUILTIN_JUMPS 1
#else
#define TXSYNC_BUILTIN_JUMPS 0
#endif
#endif

#if TXSYNC_BUILTIN_JUMPS
// Functions of sanitizers, in programs that use them, whether or not the library is compiled with them. After
// __asan_handle_no_return(), the frames that a jump leaves are no longer poisoned. AddressSanitizer does that for
// longjmp() by itself. __tsan_acquire() shows that ThreadSanitizer is present.
extern "C" {
[[gnu::weak]] void __asan_handle_no_return();
[[gnu::weak]] void __tsan_acquire(void* address);
}
#endif

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// A marked place in a function. jump_to() returns to it, as long as that function has not returned. As with longjmp,
/// the frames in between are left as they are (nothing is destroyed). The function's own variables must not have
/// changed since the mark.
///
///     machine::jump_target here;
///     if (TXSYNC_LAND(here)) { ... somebody jumped ... }
///
/// Cost: 1 ns to mark and 2 ns to jump, if the compiler's own jumps are available (x86-64); otherwise those of setjmp,
/// about 6 ns.
/// ThreadSanitizer tracks calls, and knows only setjmp. The simulated machine is compiled with its hooks. So if the
/// program uses ThreadSanitizer, the jumps are those of setjmp, too.
#if TXSYNC_BUILTIN_JUMPS
struct jump_target {
  void* state[5];
  std::jmp_buf state_for_detector;
};
inline bool has_race_detector() noexcept { return &__tsan_acquire != nullptr; }
// NOLINTNEXTLINE(cert-err52-cpp): as below
#define TXSYNC_LAND(place)                                                          \
  (::txsync::machine::has_race_detector() ? setjmp((place).state_for_detector) != 0 \
                                          : __builtin_setjmp((place).state) != 0)
[[noreturn, gnu::noinline]] inline void jump_to(jump_target& place) noexcept {
  if (has_race_detector()) std::longjmp(place.state_for_detector, 1);  // NOLINT(cert-err52-cpp): as below
  if (&__asan_handle_no_return != nullptr) __asan_handle_no_return();
  __builtin_longjmp(place.state, 1);
}
#else
struct jump_target {
  std::jmp_buf state;
};
// NOLINTNEXTLINE(cert-err52-cpp): an exception takes a microsecond, and could be caught on the way
#define TXSYNC_LAND(place) (setjmp((place).state) != 0)
[[noreturn]] inline void jump_to(jump_target& place) noexcept {
  std::longjmp(place.state, 1);  // NOLINT(cert-err52-cpp): as above
}
#endif

using landing [[deprecated("jump_target")]] = jump_target;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
