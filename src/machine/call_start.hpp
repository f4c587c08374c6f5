// SPDX-License-Identifier: Apache-2.0
// The seam: calls that can begin anew.
#pragma once

#include <csetjmp>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/jump_target.hpp>

// ThreadSanitizer and the hooks of the simulated machine follow calls, and know only setjmp (jump_target.hpp).
#if TXSYNC_BUILTIN_JUMPS
#define TXSYNC_RECORDED_CALLS 1
#elif defined(__aarch64__) && !defined(__SANITIZE_THREAD__)
#define TXSYNC_RECORDED_CALLS 1
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef TXSYNC_RECORDED_CALLS
#define TXSYNC_RECORDED_CALLS 0
#endif
#endif
#else
#define TXSYNC_RECORDED_CALLS 0
#endif

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// It may throw.
using started_function = void (*)(void* argument);

/// Where a call began. call_from() records that, and then calls the function. As long as the function has not returned,
/// begin_anew() leaves it, and calls another one in its place. That one has the same caller. It finds the same values in
/// the registers that a call preserves. As with jump_to(), the frames in between are left as they are (nothing is
/// destroyed). Unlike with jump_target, the caller's variables can stay in registers, and may change before the call.
///
///     machine::call_start here;
///     machine::call_from(here, run_first, &data);  // somewhere in there: machine::begin_anew(here, run_again, &data)
///
/// Errors: an exception that leaves either function comes out of call_from().
/// Cost: 10 instructions on x86-64, also to begin anew; on AArch64 16. Elsewhere, and with ThreadSanitizer, those of
/// setjmp. With shadow stacks (a compiler's -fcf-protection=return) 3 more.
struct call_start {
#if TXSYNC_RECORDED_CALLS
  void* registers[21];  ///< as machine/call_start.cpp lays them out
#endif
  std::jmp_buf jump;
  started_function function;
  void* argument;
};

namespace detail {
/// By setjmp.
void call_by_jump(call_start& start, started_function function, void* argument);
[[noreturn]] void begin_anew_by_jump(call_start& start, started_function function, void* argument) noexcept;
}  // namespace detail

#if TXSYNC_RECORDED_CALLS
extern "C" {
// Assembly of machine/call_start.cpp. It passes on what the function throws, so it is not noexcept.
void txsync_call_from(void** registers, started_function function, void* argument);
[[noreturn]] void txsync_begin_anew(void** registers, started_function function, void* argument);
#if !TXSYNC_BUILTIN_JUMPS
[[gnu::weak]] void __asan_handle_no_return();
[[gnu::weak]] void __tsan_acquire(void* address);
#endif
}
/// False: a race detector is present that the library was not compiled for. call_from() then uses setjmp.
inline bool calls_are_recorded() noexcept { return &__tsan_acquire == nullptr; }
/// As call_from(), 2 instructions cheaper. Requires: calls_are_recorded().
inline void call_recorded_from(call_start& start, started_function function, void* argument) {
  TXSYNC_ASSERT_VALUE(calls_are_recorded(), "no race detector follows calls");
  txsync_call_from(start.registers, function, argument);
}
inline void call_from(call_start& start, started_function function, void* argument) {
  if (!calls_are_recorded()) return detail::call_by_jump(start, function, argument);
  call_recorded_from(start, function, argument);
}
[[noreturn]] inline void begin_anew(call_start& start, started_function function, void* argument) {
  if (!calls_are_recorded()) detail::begin_anew_by_jump(start, function, argument);
  if (&__asan_handle_no_return != nullptr) __asan_handle_no_return();  // as in jump_to()
  txsync_begin_anew(start.registers, function, argument);
}
#else
inline bool calls_are_recorded() noexcept { return true; }
inline void call_recorded_from(call_start& start, started_function function, void* argument) {
  detail::call_by_jump(start, function, argument);
}
inline void call_from(call_start& start, started_function function, void* argument) {
  detail::call_by_jump(start, function, argument);
}
[[noreturn]] inline void begin_anew(call_start& start, started_function function, void* argument) noexcept {
  detail::begin_anew_by_jump(start, function, argument);
}
#endif

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
