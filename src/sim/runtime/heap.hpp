// SPDX-License-Identifier: Apache-2.0
// The program's heap (and libc's own: the image is static). Its books stand outside the program's memory but for links
// in free blocks, so that allocating conflicts with nobody; each thread has lists of its own, as thread-caching
// allocators do, so that blocks of two threads seldom share a line. Same calls, same addresses, on every run.
#pragma once

#include <cstddef>

namespace txsync::sim {

/// Null when there is no more.
void* heap_allocate(std::size_t bytes, std::size_t alignment) noexcept;
void heap_free(void* block) noexcept;
std::size_t heap_size_of(const void* block) noexcept;

}  // namespace txsync::sim
