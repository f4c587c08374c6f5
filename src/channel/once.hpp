// SPDX-License-Identifier: Apache-2.0
// Something that the first thread that asks finds out. Not by a lock or a guard of the compiler's: what is looked for
// may be what these need.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/machine/thread.hpp>

namespace txsync::inline TXSYNC_BACKEND::channel {

/// What is found, and how far that is. Constant-initialised.
template <class What, void (*find)(What&) noexcept>
struct finding {
  static constinit inline What found{};
  static constinit inline std::atomic<std::uint32_t> state{0};  // 0: nobody looked; 1: somebody does; 2: found

  /// Apart, so that who finds it found saves no registers.
  [[gnu::noinline, gnu::cold]] static void look() noexcept {
    // acquire pairs with the release below
    while (state.load(std::memory_order_acquire) != 2) {
      std::uint32_t nobody = 0;
      // relaxed: only who is first matters
      if (state.compare_exchange_strong(nobody, 1, std::memory_order_relaxed)) {
        find(found);
        state.store(2, std::memory_order_release);
      } else {
        machine::yield();
      }
    }
  }
};

/// Requires: constant initialisation of What; find() does not ask for the same, nor does a signal handler in it. Cost
/// once it is found: a load and a comparison.
template <class What, void (*find)(What&) noexcept>
const What& found_once() noexcept {
  using here = finding<What, find>;
  // acquire pairs with the release in look()
  if (here::state.load(std::memory_order_acquire) != 2) [[unlikely]]
    here::look();
  return here::found;
}

}  // namespace txsync::inline TXSYNC_BACKEND::channel
