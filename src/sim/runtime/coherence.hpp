// SPDX-License-Identifier: Apache-2.0
// One access to one line: what it costs, what it moves between caches, and whose attempts it ends.
#pragma once

#include "fiber.hpp"

namespace txsync::sim {

/// The running thread reads or writes a line, at `address` (the first, if the memory has two). Charges it, and updates the directory, the tags and the attempts' sets.
/// From now on, the thread's filter answers for the line. Does not return if this ends the thread's own attempt. Never
/// lets another thread run. `page_is_entered`: enter_page() was called, with the address that was used.
template <bool write>
void slow_access(thread_record& thread, line_number line, std::uintptr_t address,
                 bool page_is_entered = false) noexcept;

/// Prefetches, on the host, the metadata that slow_access() will read; call it long enough before.
void prefetch_metadata(const thread_record& thread, std::uintptr_t address) noexcept;

/// A prefetch by the program: moves the line, ends no attempt, and costs only its own instruction.
void prefetch(thread_record& thread, line_number line, bool write) noexcept;

}  // namespace txsync::sim
