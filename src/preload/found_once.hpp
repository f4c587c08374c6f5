// SPDX-License-Identifier: Apache-2.0
// A table of other libraries' functions, found by the first thread that asks. Not by a lock or a guard of the
// compiler's: what is looked for may be what these need.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include <txsync/machine/thread.hpp>

namespace txsync::inline TXSYNC_BACKEND::preload {

/// The function that stands behind ours; null: there is none.
template <class Function>
void find_next(Function& out, const char* name) noexcept {
  out = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
/// The same in that version, or in any.
template <class Function>
void find_next(Function& out, const char* name, const char* version) noexcept {
  out = reinterpret_cast<Function>(dlvsym(RTLD_NEXT, name, version));
  if (out == nullptr) find_next(out, name);
}

template <class Functions, void (*find_all)(Functions&) noexcept>
const Functions& found_once() noexcept {
  static constinit Functions found{};
  static constinit std::atomic<std::uint32_t> state{0};  // 0: nobody looked; 1: somebody does; 2: found
  // acquire pairs with the release below
  while (state.load(std::memory_order_acquire) != 2) {
    std::uint32_t nobody = 0;
    // relaxed: only who is first matters
    if (state.compare_exchange_strong(nobody, 1, std::memory_order_relaxed)) {
      find_all(found);
      state.store(2, std::memory_order_release);
    } else {
      machine::yield();
    }
  }
  return found;
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload
