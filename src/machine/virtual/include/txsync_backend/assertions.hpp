// SPDX-License-Identifier: Apache-2.0
// Simulated programs run with assertions, in each build. What these look at is free.
#pragma once

#include <type_traits>

#include <txsync_backend/runtime.h>
#include <txsync_backend/name.hpp>

#undef TXSYNC_ASSERTIONS
#define TXSYNC_ASSERTIONS 1

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// Around the evaluation of an assertion's condition: constructed before it, and at() called after it.
class unseen_look {
 public:
  constexpr unseen_look() noexcept {
    if (!std::is_constant_evaluated()) began_ = txsync_sim_look_unseen();
  }
  constexpr bool at(bool condition) const noexcept {
    if (!std::is_constant_evaluated()) txsync_sim_end_look(began_);
    return condition;
  }

 private:
  int began_ = 0;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
