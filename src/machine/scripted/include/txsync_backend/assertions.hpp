// SPDX-License-Identifier: Apache-2.0
// Unit tests run with assertions, in each build.
#pragma once

#include <txsync_backend/name.hpp>

#undef TXSYNC_ASSERTIONS
#define TXSYNC_ASSERTIONS 1

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// Around the evaluation of an assertion's condition. Loads and stores are no steps of a script: nothing to do.
struct unseen_look {
  static constexpr bool at(bool condition) noexcept { return condition; }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
