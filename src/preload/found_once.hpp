// SPDX-License-Identifier: Apache-2.0
// A table of other libraries' functions. The first thread that asks fills it.
#pragma once

#include <dlfcn.h>

#include "channel/once.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

using channel::found_once;

/// The next function of that name after ours; null: there is none.
template <class Function>
void find_next(Function& out, const char* name) noexcept {
  out = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
/// The same in that version, or else in any.
template <class Function>
void find_next(Function& out, const char* name, const char* version) noexcept {
  out = reinterpret_cast<Function>(dlvsym(RTLD_NEXT, name, version));
  if (out == nullptr) find_next(out, name);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
