// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::preload {

/// Whether the object lies in the heap that malloc grows by brk, behind the program's own file. No file is loaded
/// there, so it is not in static storage. False says nothing: malloc maps memory elsewhere, too. Takes no lock and
/// makes no system call. Cost: about 1 ns.
bool is_on_main_heap(const void* object) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::preload
