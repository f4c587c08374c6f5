// SPDX-License-Identifier: Apache-2.0
#include "heap_guard.hpp"

#include <algorithm>
#include <utility>

#include "call_chain.hpp"
#include "failure.hpp"
#include "granules.hpp"
#include "heap.hpp"
#include "races.hpp"
#include "state.hpp"
#include "traces.hpp"

namespace txsync::sim {

namespace {

struct freed_block {
  std::uintptr_t block = 0;
  std::uintptr_t code = 0;
  std::uint32_t thread = 0;
  call_chain calls = {};  ///< in replays alone: they take time
};
constexpr unsigned max_kept = 1024;
constexpr std::size_t max_kept_bytes = std::size_t{64} << 10;  // of one of them
constexpr std::size_t max_guarded_bytes = std::size_t{1} << 20;
constinit freed_block kept[max_kept] = {};
constinit unsigned kept_count = 0;  // ever; the newest is before kept[kept_count % max_kept]
constinit bool is_sorted = false;   // by take_highest_freed()

granule granule_of(usable bytes) noexcept {
  granule made{};
  made.bytes = bytes;
  return made;
}

freed_block* find_freed(std::uintptr_t block) noexcept {
  for (unsigned i = 0; i < max_kept && i < kept_count; ++i) {
    freed_block& one = kept[(kept_count - 1 - i) % max_kept];
    if (one.block == block) return &one;
  }
  return nullptr;
}

[[noreturn]] void refuse(std::uintptr_t address, std::size_t bytes, bool write, bool is_freed) noexcept {
  if (state.traces)
    trace(*state.current, state.current->last_code, write ? step_kind::writes : step_kind::reads, address);
  const heap_block block = heap_block_at(address);
  line_text line;
  line << "the program " << (write ? "writes " : "reads ") << bytes << (bytes == 1 ? " byte " : " bytes ");
  if (is_freed) {
    line << "of a block that is free: offset " << address - block.start;
  } else {
    const std::size_t usable = usable_bytes(block.start, block.bytes);
    line << "at offset " << address - block.start << " of a block that has " << usable;
  }
  if (block.code != 0) add_code(line << ", allocated by ", block.code);
  add_end_of_block(line, block.start);
  fail(line);
}

}  // namespace

void guard_block(std::uintptr_t block, std::size_t bytes, std::size_t whole) noexcept {
  forget_accesses(block, whole);
  if (whole > max_guarded_bytes) return;
  for (std::size_t at = 0; at < whole; at += granule_bytes) {
    usable here = usable::beyond_block;
    if (at < bytes) here = static_cast<usable>(std::min<std::size_t>(bytes - at, granule_bytes));
    granule_at(block + at) = granule_of(here);
  }
}

std::size_t usable_bytes(std::uintptr_t block, std::size_t whole) noexcept {
  if (whole > max_guarded_bytes) return whole;
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < whole; at += granule_bytes) {
    const usable here = granule_at(block + at).bytes;
    if (here == usable::not_known) return whole;
    if (here <= usable::all) bytes += static_cast<std::size_t>(here);
  }
  return bytes;
}

void* keep_freed(void* block, std::size_t whole) noexcept {
  if (whole > max_guarded_bytes) return block;
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  for (std::size_t at = 0; at < whole; at += granule_bytes) granule_at(address + at) = granule_of(usable::freed);
  if (whole > max_kept_bytes) return block;
  is_sorted = false;
  freed_block& place = kept[kept_count++ % max_kept];
  void* const oldest = reinterpret_cast<void*>(place.block);
  place = {.block = address};
  if (const thread_record* thread = state.current) {
    place.code = thread->last_code;
    place.thread = thread->id;
    if (state.wants_trace) place.calls = calls_of_caller();
  }
  return oldest;
}

void* take_highest_freed() noexcept {
  if (kept_count == 0) return nullptr;
  const unsigned count = std::min(kept_count, max_kept);
  if (!is_sorted)
    std::sort(kept, kept + count, [](const freed_block& a, const freed_block& b) { return a.block < b.block; });
  is_sorted = count > 1;
  kept_count = count - 1;
  return reinterpret_cast<void*>(std::exchange(kept[kept_count].block, 0));
}

void check_usable(std::uintptr_t address, std::size_t bytes, bool write) noexcept {
  TXSYNC_SIM_ASSERT(state.follows_program, "the heap is guarded where a program is followed");
  if (address < arena_begin || address + bytes > arena_end) return;
  for (std::uintptr_t at = address; at < address + bytes; at = after_granule(at)) {
    const usable here = granule_at(at).bytes;
    if (here == usable::not_known || here == usable::all) continue;
    const std::uintptr_t end = std::min(after_granule(at), address + bytes);
    const bool is_inside =
        here < usable::all && end - at / granule_bytes * granule_bytes <= static_cast<unsigned>(here);
    if (!is_inside) refuse(address, bytes, write, here == usable::freed);
  }
}

void add_end_of_block(line_text& line, std::uintptr_t block) noexcept {
  const freed_block* freed = find_freed(block);
  if (freed == nullptr) return;
  add_code(line << ", freed by thread " << freed->thread << ", ", freed->code);
  if (freed->calls.count == 0) return;
  line << " in ";
  add_call_chain(line, freed->calls);
}

}  // namespace txsync::sim
