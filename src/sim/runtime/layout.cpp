// SPDX-License-Identifier: Apache-2.0
#include "layout.hpp"

#include <sys/mman.h>

#include "failure.hpp"
#include "free_ranges.hpp"

namespace txsync::sim {

namespace {
constinit std::uintptr_t next_elsewhere = elsewhere_begin;
}

void* reserve(std::uintptr_t address, std::size_t bytes, const char* what) noexcept {
  if (address == 0) {
    constexpr std::uintptr_t step = std::uintptr_t{2} << 20;  // of huge pages, and room between the regions
    address = next_elsewhere;
    next_elsewhere += (bytes + step - 1) / step * step + step;
  }
  void* pages = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (pages != reinterpret_cast<void*>(address)) {
    line_text line;
    line << "the system gives no address space for the " << what << " (" << bytes << " bytes)";
    fail(line);
  }
  return pages;
}

namespace {

constinit std::uintptr_t next = 0;
constinit free_ranges given_back;

}  // namespace

std::uintptr_t take_from_arena(std::size_t bytes, std::size_t alignment) noexcept {
  if (const std::uintptr_t again = given_back.take(bytes, alignment); again != 0) return again;
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

void give_to_arena(std::uintptr_t address, std::size_t bytes) noexcept {
  constexpr std::size_t most = std::size_t{1} << 20;
  given_back.reserve_for(most, "list of pages given back");
  const std::uintptr_t end = address + bytes < next ? address + bytes : next;
  if (address < end) given_back.add(address, end);
}

void keep_in_arena(std::uintptr_t address, std::size_t bytes) noexcept { given_back.remove(address, address + bytes); }

}  // namespace txsync::sim
