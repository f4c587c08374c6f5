// SPDX-License-Identifier: Apache-2.0
#include "layout.hpp"

#include <sys/mman.h>

#include "failure.hpp"

namespace txsync::sim {

void* reserve(std::uintptr_t address, std::size_t bytes, const char* what) noexcept {
  const int fixed = address != 0 ? MAP_FIXED_NOREPLACE : 0;
  void* pages = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  if (pages == MAP_FAILED || (address != 0 && pages != reinterpret_cast<void*>(address))) {
    line_text line;
    line << "the system gives no address space for the " << what << " (" << bytes << " bytes)";
    fail(line);
  }
  return pages;
}

std::uintptr_t take_from_arena(std::size_t bytes, std::size_t alignment) noexcept {
  static std::uintptr_t next = 0;
  if (next == 0) {
    reserve(arena_begin, arena_end - arena_begin, "program's heap");
    void* stacks = reserve(stacks_begin, program_end - stacks_begin, "program's stacks");
    mprotect(stacks, program_end - stacks_begin, PROT_NONE);
    next = arena_begin;
  }
  const std::uintptr_t start = (next + alignment - 1) & ~(alignment - 1);
  if (start + bytes > arena_end || start + bytes < start) fail("the simulated program wants more memory than 11 GiB");
  next = start + bytes;
  return start;
}

}  // namespace txsync::sim
