// SPDX-License-Identifier: Apache-2.0
// While a program is explored: memory of its heap that it may not touch. A block has guard_bytes behind it, and freed
// blocks are handed out again late. Neither holds for large blocks, which would take too much memory and time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "line_text.hpp"

namespace txsync::sim {

inline constexpr std::size_t guard_bytes = 16;

/// The program gets `bytes` of a block that has `whole` bytes.
void guard_block(std::uintptr_t block, std::size_t bytes, std::size_t whole) noexcept;
/// Of such a block: what guard_block() was told.
std::size_t usable_bytes(std::uintptr_t block, std::size_t whole) noexcept;

/// The running thread frees a block. Returns one that was freed long ago, and is free for good now; null if none is.
void* keep_freed(void* block, std::size_t whole) noexcept;

/// Of the blocks that are kept, the one at the highest address: it is free for good now. Null if none is kept.
void* take_highest_freed() noexcept;

/// Ends the run if the running thread may not access these bytes. Requires: follow_program().
void check_usable(std::uintptr_t address, std::size_t bytes, bool write) noexcept;

/// ", freed by thread 1, code at ...": of a block that was freed and not handed out since. Empty for others.
void add_end_of_block(line_text& line, std::uintptr_t block) noexcept;

}  // namespace txsync::sim
