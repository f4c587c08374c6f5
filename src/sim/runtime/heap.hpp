// SPDX-License-Identifier: Apache-2.0
// The program's heap (and libc's own, because the image is static). Its metadata is outside the program's memory,
// except for links in free blocks, so allocating conflicts with no other thread. Each thread has its own lists, as in
// thread-caching allocators, so blocks of two threads seldom share a line. The same calls give the same addresses in
// every run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace txsync::sim {

/// Null if there is no memory left.
void* heap_allocate(std::size_t bytes, std::size_t alignment) noexcept;
void heap_free(void* block) noexcept;
std::size_t heap_size_of(const void* block) noexcept;

/// Between two schedules of a program that explores itself: what was freed is handed out again, the lowest addresses
/// first. So schedules that free what they allocate get the same addresses.
void return_freed_blocks() noexcept;

/// malloc() and the like on behalf of the program, which calls from the address `code`.
void* allocate(std::size_t bytes, std::size_t alignment, std::uintptr_t code) noexcept;

/// The block that contains an address, and the code that last allocated it. 0 bytes if the address is in no block.
struct heap_block {
  std::uintptr_t start = 0;
  std::size_t bytes = 0;
  std::uint32_t code = 0;
};
heap_block heap_block_at(std::uintptr_t address) noexcept;
/// operator new[] calls operator new, which the program may have replaced: the next allocation is for the call at
/// `code`.
void next_allocation_is_from(std::uintptr_t code) noexcept;

}  // namespace txsync::sim
