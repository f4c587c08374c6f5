// SPDX-License-Identifier: Apache-2.0
// The program's heap (and libc's own: the image is static). Its books stand outside the program's memory but for links
// in free blocks, so that allocating conflicts with nobody; each thread has lists of its own, as thread-caching
// allocators do, so that blocks of two threads seldom share a line. Same calls, same addresses, on every run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace txsync::sim {

/// Null when there is no more.
void* heap_allocate(std::size_t bytes, std::size_t alignment) noexcept;
void heap_free(void* block) noexcept;
std::size_t heap_size_of(const void* block) noexcept;

/// malloc() and its kin on behalf of the program, which calls from `site`.
void* allocate(std::size_t bytes, std::size_t alignment, std::uintptr_t site) noexcept;

/// The block that an address lies in, and the code that asked for it last. No bytes where it is no such memory.
struct heap_block {
  std::uintptr_t start = 0;
  std::size_t bytes = 0;
  std::uint32_t site = 0;
};
heap_block heap_block_at(std::uintptr_t address) noexcept;
/// operator new[] calls operator new, which the program may have replaced: the next allocation is on behalf of `site`.
void next_allocation_is_from(std::uintptr_t site) noexcept;

}  // namespace txsync::sim
