// SPDX-License-Identifier: Apache-2.0
#include "heap.hpp"

#include <cerrno>
#include <cstring>

#include "access.hpp"
#include "exploration.hpp"
#include "failure.hpp"
#include "heap_guard.hpp"
#include "systematic.hpp"

namespace txsync::sim {

namespace {

// Blocks of one size are in chunks of their own, so that the chunk tells a block's size.
constexpr std::size_t chunk_bytes = std::size_t{64} << 10;
constexpr std::size_t finest = 16;
constexpr unsigned fine_classes = 64;  // up to 1024 bytes in steps of 16, then eight sizes to each doubling
constexpr unsigned all_classes = 240;
constexpr std::size_t largest_in_chunk = std::size_t{32} << 10;
// Threads without a record (libc before the start, the scheduler) share the last entry.
constexpr unsigned owners = max_threads + 1;

struct free_block {
  free_block* next;
};

struct size_class {
  free_block* free;
  std::uintptr_t fresh;  ///< the rest of the newest chunk
  std::uintptr_t fresh_end;
  bool is_unsorted;  ///< a free block comes before one at a lower address
};

constinit size_class (*lists)[all_classes] = nullptr;
constinit std::uint8_t* chunk_classes = nullptr;  // class + 1 of the chunk's blocks, by chunk number
// By a block's start, in steps of `finest`: the code that last allocated it, and whether it is in use. Most of it is
// never touched. Code of an image is far below the mark.
constinit std::uint32_t* code_addresses = nullptr;
constexpr std::uint32_t in_use = std::uint32_t{1} << 31;
constinit std::uintptr_t announced_code = 0;

constexpr unsigned class_for(std::size_t bytes) noexcept {
  if (bytes <= finest * fine_classes) return bytes == 0 ? 0 : static_cast<unsigned>((bytes + finest - 1) / finest - 1);
  const auto doubling = 63 - static_cast<unsigned>(__builtin_clzll(bytes - 1));  // 2^doubling < bytes or equal
  const std::size_t step = std::size_t{1} << (doubling - 3);
  const auto eighth = static_cast<unsigned>((bytes - 1 - (std::size_t{1} << doubling)) / step);
  return fine_classes + (doubling - 10) * 8 + eighth;
}

constexpr std::size_t size_of_class(unsigned number) noexcept {
  if (number < fine_classes) return (number + 1) * finest;
  const unsigned above = number - fine_classes;
  const std::size_t base = std::size_t{1} << (10 + above / 8);
  return base + (above % 8 + 1) * (base / 8);
}

static_assert(size_of_class(class_for(1)) == 16 && size_of_class(class_for(1024)) == 1024);
static_assert(size_of_class(class_for(1025)) == 1152 && size_of_class(class_for(2048)) == 2048);
static_assert(size_of_class(class_for(2049)) == 2304);

/// Where a program explores itself, threads share the lists: the addresses of a schedule must not depend on those before.
unsigned owner() noexcept {
  if (state.explores_itself) return 0;
  return state.current != nullptr ? state.current->id : max_threads;
}

void set_up() noexcept {
  if (lists != nullptr) return;
  lists = static_cast<size_class(*)[all_classes]>(reserve(0, owners * sizeof *lists, "heap's lists"));
  chunk_classes = static_cast<std::uint8_t*>(reserve(0, program_end / chunk_bytes, "heap's chunks"));
  code_addresses = static_cast<std::uint32_t*>(
      reserve(0, (arena_end - arena_begin) / finest * sizeof *code_addresses, "code addresses of allocations"));
}

void refill(size_class& list, unsigned number) noexcept {
  const std::size_t size = size_of_class(number);
  const std::size_t bytes =
      size <= largest_in_chunk ? chunk_bytes : (size + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
  list.fresh = take_from_arena(bytes, chunk_bytes);
  list.fresh_end = list.fresh + bytes;
  for (std::size_t at = 0; at < bytes; at += chunk_bytes) {
    chunk_classes[(list.fresh + at) / chunk_bytes] = static_cast<std::uint8_t>(number + 1);
  }
}

void know_nothing_of(std::uintptr_t address, std::size_t bytes) noexcept {
  if (state.oracle && state.current != nullptr) oracle_forget(address, bytes);
}

std::uint32_t& code_of(std::uintptr_t block) noexcept { return code_addresses[(block - arena_begin) / finest]; }

[[noreturn]] void refuse_free(std::uintptr_t address, unsigned number) noexcept {
  line_text line;
  if (number == 0) {
    line << "the program frees what was never allocated: ";
  } else if (address % finest == 0 && code_of(address) != 0) {
    const std::size_t guard = state.follows_program ? guard_bytes : 0;
    line << "the program frees a block of " << size_of_class(number - 1) - guard << " bytes twice: ";
  } else {
    line << "the program frees an address that is not the start of a block: ";
  }
  line.hexadecimal(address);
  if (number != 0 && state.follows_program) add_end_of_block(line, address);
  fail(line);
}

/// The size of a block that starts at such an alignment in its chunk.
std::size_t size_for(std::size_t bytes, std::size_t alignment) noexcept {
  if (alignment <= finest) return bytes;
  std::size_t size = alignment;
  while (size < bytes) size *= 2;
  return size;
}

}  // namespace

void* heap_allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes > arena_end - arena_begin || alignment > chunk_bytes) return nullptr;
  set_up();
  const unsigned number = class_for(size_for(bytes, alignment));
  size_class& list = lists[owner()][number];
  const std::size_t size = size_of_class(number);
  if (list.free != nullptr) {
    free_block* block = list.free;
    list.free = block->next;
    know_nothing_of(reinterpret_cast<std::uintptr_t>(block), size);
    code_of(reinterpret_cast<std::uintptr_t>(block)) = in_use;
    return block;
  }
  if (list.fresh + size > list.fresh_end || list.fresh == 0) refill(list, number);
  const std::uintptr_t block = list.fresh;
  list.fresh += size <= largest_in_chunk ? size : list.fresh_end - list.fresh;
  know_nothing_of(block, size);
  code_of(block) = in_use;
  return reinterpret_cast<void*>(block);
}

namespace {
/// Returns the number of the block's class, plus one.
unsigned check_in_use(const void* block) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const unsigned number = address < program_end ? chunk_classes[address / chunk_bytes] : 0u;
  if (number == 0 || address % finest != 0 || (code_of(address) & in_use) == 0) refuse_free(address, number);
  return number;
}
}  // namespace

namespace {
/// `number` is that of the block's class, plus one.
void give_back(void* block, unsigned number) noexcept {
  size_class& list = lists[owner()][number - 1];
  auto* freed = static_cast<free_block*>(block);
  list.is_unsorted = list.is_unsorted || (list.free != nullptr && list.free < freed);
  freed->next = list.free;
  list.free = freed;
  know_nothing_of(reinterpret_cast<std::uintptr_t>(block), size_of_class(number - 1));
}
}  // namespace

void heap_free(void* block) noexcept {
  unsigned number = check_in_use(block);
  code_of(reinterpret_cast<std::uintptr_t>(block)) &= ~in_use;
  if (state.follows_program) {
    block = keep_freed(block, size_of_class(number - 1));
    if (block == nullptr) return;
    number = chunk_classes[reinterpret_cast<std::uintptr_t>(block) / chunk_bytes];
  }
  give_back(block, number);
}

namespace {
/// The lowest first. Most of it is in order, from the end on: insertion sort.
void sort_free_blocks(size_class& list) noexcept {
  free_block* sorted = nullptr;
  while (list.free != nullptr) {
    free_block* const block = list.free;
    list.free = block->next;
    free_block** place = &sorted;
    while (*place != nullptr && *place < block) place = &(*place)->next;
    block->next = *place;
    *place = block;
  }
  list.free = sorted;
  list.is_unsorted = false;
}
}  // namespace

void return_freed_blocks() noexcept {
  // The lowest comes last, and is handed out first.
  while (void* const block = take_highest_freed()) {
    give_back(block, chunk_classes[reinterpret_cast<std::uintptr_t>(block) / chunk_bytes]);
  }
  for (size_class& list : lists[owner()]) {
    if (list.is_unsorted) sort_free_blocks(list);
  }
}

heap_block heap_block_at(std::uintptr_t address) noexcept {
  if (address < arena_begin || address >= arena_end || chunk_classes == nullptr) return {};
  const unsigned number = chunk_classes[address / chunk_bytes];
  if (number == 0) return {};
  const std::size_t size = size_of_class(number - 1);
  std::uintptr_t start = address / chunk_bytes * chunk_bytes;
  if (size <= largest_in_chunk) {
    start += (address - start) / size * size;
  } else {  // several chunks; only the first has a code address
    for (std::size_t back = chunk_bytes; back < size && code_of(start) == 0; back += chunk_bytes) start -= chunk_bytes;
  }
  return {start, size, code_of(start) & ~in_use};
}

void next_allocation_is_from(std::uintptr_t code) noexcept { announced_code = code; }

std::size_t heap_size_of(const void* block) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const unsigned number = address < program_end ? chunk_classes[address / chunk_bytes] : 0u;
  return number != 0 ? size_of_class(number - 1) : 0;
}

namespace {

// What a call of the allocator costs, without accesses to the memory that it hands out. Thread-caching allocators take
// about this.
constexpr unsigned allocate_cycles = 50;
constexpr unsigned free_cycles = 30;

}  // namespace

void* allocate(std::size_t bytes, std::size_t alignment, std::uintptr_t code) noexcept {
  thread_record* thread = state.current;
  if (thread != nullptr) {
    thread->last_code = announced_code != 0 ? announced_code : code;
    if (state.model.htm_allocation_aborts != 0 && !thread->tx.suspended) leave_attempt(cause::fault);
    if (thread == state.charged) charge(*thread, allocate_cycles);
    drain_own();
  }
  void* block = heap_allocate(state.follows_program && bytes < program_end ? bytes + guard_bytes : bytes, alignment);
  if (block == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  if (state.follows_program) guard_block(reinterpret_cast<std::uintptr_t>(block), bytes, heap_size_of(block));
  // An abort frees it, unless the attempt is suspended: what is done while suspended stays done.
  const bool is_tentative = thread != nullptr && thread->tx.depth != 0 && !thread->tx.suspended;
  if (is_tentative && !thread->tx.allocated.push(block)) {
    heap_free(block);
    abort_self({.why = cause::capacity_write});
  }
  code_of(reinterpret_cast<std::uintptr_t>(block)) |=
      static_cast<std::uint32_t>(announced_code != 0 ? announced_code : code);
  announced_code = 0;
  return block;
}

namespace {

bool was_allocated_in(attempt& tx, const void* block) noexcept {
  for (const void* one : tx.allocated) {
    if (one == block) return true;
  }
  return false;
}

/// To the other threads, freeing is a write of the block.
void free_step(thread_record& thread, const void* block, std::uintptr_t code) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  check_in_use(block);
  const std::size_t bytes = usable_bytes(address, heap_size_of(block));
  if (is_step_of_program(thread, address, bytes, true, code, false)) {
    explored_step_at(thread, {address, bytes}, true);
    check_in_use(block);
  } else {
    pass_without_step();
  }
  touches_in_segment(address, bytes, true);
  if (state.traces && !is_library_code(code)) trace(thread, code, step_kind::frees, address);
  if (thread.tx.depth == 0 && !is_library_code(code)) check_race(thread, address, bytes, true, code, {});
}

void release(void* block, std::uintptr_t code) noexcept {
  if (block == nullptr) return;
  thread_record* thread = state.current;
  if (thread == nullptr) return heap_free(block);
  thread->last_code = code;
  if (state.model.htm_allocation_aborts != 0 && !thread->tx.suspended) leave_attempt(cause::fault);
  if (thread == state.charged) charge(*thread, free_cycles);
  if (state.follows_program) free_step(*thread, block, code);
  drain_own();  // the allocator stores a link in the block
  if (thread->tx.depth == 0) return heap_free(block);
  // Other threads' attempts may read the block until this one has committed. What is freed while suspended stays freed,
  // but only when the attempt's own writes to it can no longer be undone. The attempt's own blocks are freed by an
  // abort anyway.
  attempt& tx = thread->tx;
  know_nothing_of(reinterpret_cast<std::uintptr_t>(block), heap_size_of(block));
  if (!(tx.suspended && !was_allocated_in(tx, block) ? tx.freed_for_good : tx.freed).push(block))
    abort_self({.why = cause::capacity_write});
}

}  // namespace

}  // namespace txsync::sim

using namespace txsync::sim;

extern "C" {

// The return address identifies the program's call precisely enough for names.
#define TXSYNC_SIM_CALLER reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

void* malloc(std::size_t bytes) { return allocate(bytes, finest, TXSYNC_SIM_CALLER); }
void free(void* block) { release(block, TXSYNC_SIM_CALLER); }

void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* block = allocate(bytes, finest, TXSYNC_SIM_CALLER);
  if (block == nullptr) return nullptr;
  library_access<true>(block, bytes);
  return std::memset(block, 0, bytes);
}

std::size_t malloc_usable_size(void* block) {
  const std::size_t whole = block != nullptr ? heap_size_of(block) : 0;
  return state.follows_program ? usable_bytes(reinterpret_cast<std::uintptr_t>(block), whole) : whole;
}

void* realloc(void* block, std::size_t bytes) {
  if (block == nullptr) return allocate(bytes, finest, TXSYNC_SIM_CALLER);
  const std::size_t old = malloc_usable_size(block);
  check_in_use(block);
  if (bytes != 0 && bytes <= old && bytes > old / 2 && !state.follows_program) return block;
  void* moved = allocate(bytes, finest, TXSYNC_SIM_CALLER);
  if (moved == nullptr) return nullptr;
  const std::size_t kept = old < bytes ? old : bytes;
  if (state.charged != nullptr && kept != 0) {
    check_access<false>(*state.charged, reinterpret_cast<std::uintptr_t>(block), kept);
  }
  library_access<true>(moved, kept);
  std::memcpy(moved, block, kept);
  release(block, TXSYNC_SIM_CALLER);
  return moved;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return allocate(bytes, alignment, TXSYNC_SIM_CALLER); }
void* memalign(std::size_t alignment, std::size_t bytes) { return allocate(bytes, alignment, TXSYNC_SIM_CALLER); }
int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
  void* block = allocate(bytes, alignment, TXSYNC_SIM_CALLER);
  if (block == nullptr) return ENOMEM;
  library_access<true>(static_cast<void*>(result), sizeof *result);
  *result = block;
  return 0;
}

#undef TXSYNC_SIM_CALLER

}  // extern "C"
