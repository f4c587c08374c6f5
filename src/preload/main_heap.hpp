// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::preload {

/// Whether it lies between the program's own file and the end of the data segment (brk): in memory of malloc, in no
/// loaded file. False says nothing: malloc also maps memory elsewhere. Neither locks nor calls the kernel.
/// Cost: about 1 ns.
bool is_on_main_heap(const void* object) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::preload
