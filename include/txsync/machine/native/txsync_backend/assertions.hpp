// SPDX-License-Identifier: Apache-2.0
// On the native machine, assertions are on if the library was built with them.
#pragma once

#include <txsync/language.hpp>
#include <txsync_backend/name.hpp>

// In an installed copy, built_with.hpp defines this macro, and language.hpp includes that header. In the library's own
// build, CMake defines it.
#ifdef TXSYNC_BUILT_WITH_ASSERTIONS
#ifndef TXSYNC_ASSERTIONS
#define TXSYNC_ASSERTIONS TXSYNC_BUILT_WITH_ASSERTIONS
#elif TXSYNC_ASSERTIONS != TXSYNC_BUILT_WITH_ASSERTIONS
#error "this copy of txsync was built with another value of TXSYNC_ASSERTIONS: do not define it"
#include <txsync/stopped_by_the_error_above>
#endif
#endif
#ifndef TXSYNC_ASSERTIONS
#define TXSYNC_ASSERTIONS 0
#endif

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// Around the evaluation of an assertion's condition. Natively there is nothing to do.
struct unseen_look {
  static constexpr bool at(bool condition) noexcept { return condition; }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
