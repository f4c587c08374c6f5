// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// Whether the object lies in the heap that malloc grows by brk, after the program's own file. No file is loaded there,
/// so the object is not in static storage. False is no statement: malloc maps memory elsewhere, too. Takes no lock and
/// makes no system call. Cost: about 1 ns.
bool is_on_main_heap(const void* object) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
