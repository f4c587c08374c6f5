// SPDX-License-Identifier: Apache-2.0
// A value that the first thread that asks finds. It uses no lock, and no guard of the compiler: these may need the very
// value that is looked for.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

/// What is found, and the state of the search. Constant-initialised.
template <class What, void (*find)(What&) noexcept>
struct finding {
  static constinit inline What found{};
  static constinit inline std::atomic<std::uint32_t> state{0};  // 0: not looked for; 1: a thread looks; 2: found

  /// Out of line, so that a caller that finds the value ready saves no registers.
  [[gnu::noinline, gnu::cold]] static void look() noexcept {
    // acquire pairs with the release below
    while (state.load(std::memory_order_acquire) != 2) {
      std::uint32_t nobody = 0;
      // relaxed: only which thread is first matters
      if (state.compare_exchange_strong(nobody, 1, std::memory_order_relaxed)) {
        find(found);
        state.store(2, std::memory_order_release);
      } else {
        machine::yield();
      }
    }
  }
};

/// Requires: What is constant-initialised. Neither find() nor a signal handler in it asks for the same value. Cost once
/// the value is found: a load and a comparison.
template <class What, void (*find)(What&) noexcept>
const What& found_once() noexcept {
  using here = finding<What, find>;
  // acquire pairs with the release in look()
  if (here::state.load(std::memory_order_acquire) != 2) [[unlikely]]
    here::look();
  return here::found;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel
