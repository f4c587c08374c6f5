// SPDX-License-Identifier: Apache-2.0
// A table of other libraries' functions, found by the first thread that asks.
#pragma once

#include <dlfcn.h>

#include "channel/once.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

using channel::found_once;

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

}  // namespace txsync::inline TXSYNC_BACKEND::preload
