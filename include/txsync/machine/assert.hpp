// SPDX-License-Identifier: Apache-2.0
// The seam: what a function requires, checked at the line that relies on it.
//
//     TXSYNC_ASSERT(is_held(), "the calling thread holds the lock");
//
// If the condition is false, one line on the standard error names file, line, function and sentence, and the program
// aborts. The sentence says what has to be true. It is a string literal.
//
// TXSYNC_ASSERTIONS is 1 where assertions are on: in builds of CMAKE_BUILD_TYPE Debug, with sanitizers, and always on
// the scripted and on the simulated machine. The CMake option of the same name changes that for the native machine.
// Elsewhere it is 0: the condition is compiled, but there is no code for it, and it is not evaluated. The library and
// its users must agree, because headers have assertions in inline functions. So the library tells its users: CMake's
// target txsync::txsync by a compile definition, an installed copy by a header. A user who defines another value gets an
// error.
//
// The condition has no side effects, takes no lock and makes no system call. On the simulated machine its accesses cost
// no time, have no effect on caches and attempts, and are no step of a schedule. But the compiler may inline other
// functions and lay out frames differently. So times and end hashes can differ from those of a build without
// assertions.
//
// In a hardware attempt the message's system call aborts the attempt. The assertion fails for good when the code runs
// again without an attempt. In an always-abort attempt, which may see inconsistent values, a failed assertion thus only
// ends the attempt.
//
// Cost where it is on: the condition and a branch. Thread-safe. It can stand in constexpr functions.
#pragma once

#include <txsync/export.hpp>
#include <txsync_backend/assertions.hpp>
#include <txsync_backend/name.hpp>

#if TXSYNC_ASSERTIONS
#define TXSYNC_ASSERT(condition, sentence)                                 \
  (::txsync::machine::detail::unseen_look{}.at((condition) ? true : false) \
       ? static_cast<void>(0)                                              \
       : ::txsync::machine::detail::assertion_failed(__FILE__, __LINE__, __func__, sentence))
/// The same for a condition of parameters and local variables, and of members that the code reads anyway at this place.
/// The simulated machine's compiler can then keep members in registers, as without the assertion.
#define TXSYNC_ASSERT_VALUE(condition, sentence) \
  ((condition) ? static_cast<void>(0)            \
               : ::txsync::machine::detail::assertion_failed(__FILE__, __LINE__, __func__, sentence))
#else
#define TXSYNC_ASSERT(condition, sentence) static_cast<void>(sizeof((condition) ? 1 : 0))
#define TXSYNC_ASSERT_VALUE(condition, sentence) TXSYNC_ASSERT(condition, sentence)
#endif

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// Writes the line, and aborts. It exists in each build of the library.
[[noreturn, gnu::cold]] TXSYNC_EXPORT void assertion_failed(const char* file, int line, const char* function,
                                                            const char* sentence) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
