// SPDX-License-Identifier: Apache-2.0
#include "data_places.hpp"

#include "heap.hpp"
#include "state.hpp"

namespace txsync::sim {

namespace {

/// The thread whose thread-local data is there: below its FS base. libc's own record of it takes the rest of the page.
const thread_record* owner_of_local_data(std::uintptr_t address) noexcept {
  constexpr std::uintptr_t max_bytes_below = std::uintptr_t{56} << 10;
  constexpr std::uintptr_t page = 4096;
  for (unsigned i = 0; i < state.thread_count; ++i) {
    const std::uintptr_t base = state.threads[i].thread_pointer;
    if (address + max_bytes_below >= base && address < (base / page + 1) * page) return &state.threads[i];
  }
  return nullptr;
}

}  // namespace

data_place data_place_at(std::uintptr_t address) noexcept {
  if (address == 0 || address >= program_end) return {};
  if (address < arena_begin) return {.kind = data_kind::image, .offset = address};
  if (address >= stacks_begin) {
    return {.kind = data_kind::stack, .whose = static_cast<std::uint32_t>((address - stacks_begin) / stack_bytes)};
  }
  if (const heap_block block = heap_block_at(address); block.bytes != 0) {
    return {data_kind::heap, block.site, block.start, block.bytes, address - block.start};
  }
  if (const thread_record* owner = owner_of_local_data(address)) {
    return {.kind = data_kind::thread_local_data, .whose = owner->id};
  }
  return {.kind = data_kind::mapped};
}

}  // namespace txsync::sim
