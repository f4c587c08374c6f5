// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// The loaded file that contains an address; all null: none does. Takes no lock, unlike dladdr: a thread that is
/// loading a library may wait for a lock that the caller holds.
inline dl_find_object loaded_object(std::uintptr_t address) noexcept {
  dl_find_object object{};
  if (_dl_find_object(reinterpret_cast<void*>(address), &object) != 0) return {};
  return object;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
