// SPDX-License-Identifier: Apache-2.0
// Pages that the program asks for, and their rights. Rights exist in the model only; the real pages are always usable.
#include <sys/mman.h>

#include <cerrno>

#include "access.hpp"
#include "failure.hpp"
#include "heap.hpp"
#include "pages.hpp"
#include "races.hpp"

using namespace txsync::sim;

namespace {

std::size_t whole_pages(std::size_t bytes) noexcept {
  const std::size_t page = state.model.page_bytes;
  return (bytes + page - 1) / page * page;
}

rights rights_of(int prot) noexcept {
  if ((prot & PROT_WRITE) != 0) return rights::read_write;
  return (prot & PROT_READ) != 0 ? rights::read : rights::none;
}

bool is_in_arena(std::uintptr_t address, std::size_t bytes) noexcept {
  return address >= arena_begin && address <= arena_end && bytes <= arena_end - address;
}

/// Puts the content of a new mapping into pages of the arena: a file's bytes, or zeros. False with errno.
bool put_there(std::uintptr_t address, std::size_t bytes, int prot, int flags, int file, std::int64_t offset) noexcept {
  int real_prot = PROT_READ | PROT_WRITE;
  int real_flags = MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED;
  if (file == -1) {
    real_flags |= MAP_ANONYMOUS;
  } else if ((flags & MAP_SHARED) != 0) {
    real_flags = MAP_SHARED | MAP_FIXED;
    if ((prot & PROT_WRITE) == 0) real_prot = PROT_READ;  // the file may be open for reading only
  }
  return mmap(reinterpret_cast<void*>(address), bytes, real_prot, real_flags, file, offset) != MAP_FAILED;
}

/// libc maps pages before the first thread, too.
void enter_kernel_if_simulated(std::uint64_t more_cycles) noexcept {
  if (state.current != nullptr) enter_kernel(more_cycles);
}

void shoot_down_if_simulated(std::uintptr_t address, std::size_t bytes, rights allowed) noexcept {
  if (state.current != nullptr) shoot_down(*state.current, address, bytes, allowed);
}

}  // namespace

extern "C" {

[[noreturn]] void txsync_sim_unsupported(const char* name);

std::size_t txsync_sim_page_size(void) { return state.model.page_bytes; }

void* txsync_sim_map_pages(std::size_t bytes) {
  enter_kernel_if_simulated(0);
  return reinterpret_cast<void*>(take_from_arena(whole_pages(bytes), state.model.page_bytes));
}

void txsync_sim_unmap_pages(void* address, std::size_t bytes) {
  enter_kernel_if_simulated(0);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (!is_in_arena(at, bytes)) fail("the program unmaps pages that it has not mapped");
  if (heap_block_at(at).bytes != 0) fail("the program unmaps pages of its heap");
  shoot_down_if_simulated(at, whole_pages(bytes), rights::none);
  forget_pages(at, bytes);
  if (state.oracle) oracle_forget(at, whole_pages(bytes));
  if (state.follows_program) forget_accesses(at, whole_pages(bytes));
  if (put_there(at, whole_pages(bytes), PROT_NONE, 0, -1, 0)) give_to_arena(at, whole_pages(bytes));
}

void* txsync_sim_mmap(void* address, std::size_t bytes, int prot, int flags, int file, std::int64_t offset) {
  enter_kernel_if_simulated(0);
  if (bytes == 0) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  const bool replaces = (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
  auto at = reinterpret_cast<std::uintptr_t>(address);
  if (!replaces) {
    at = take_from_arena(whole_pages(bytes), state.model.page_bytes);
  } else if (!is_in_arena(at, bytes)) {
    txsync_sim_unsupported("mmap to a fixed address that mmap has not given it");
  }
  if ((flags & MAP_ANONYMOUS) != 0) file = -1;
  if (replaces) keep_in_arena(at, whole_pages(bytes));
  if (replaces) shoot_down_if_simulated(at, whole_pages(bytes), rights::none);
  if ((file != -1 || replaces) && !put_there(at, bytes, prot, flags, file, offset)) return MAP_FAILED;
  if (state.oracle) oracle_forget(at, whole_pages(bytes));
  if (state.follows_program) forget_accesses(at, whole_pages(bytes));
  forget_pages(at, bytes);
  set_rights(at, whole_pages(bytes), rights_of(prot));
  return reinterpret_cast<void*>(at);
}

int txsync_sim_munmap(void* address, std::size_t bytes) {
  txsync_sim_unmap_pages(address, bytes);
  return 0;
}

int txsync_sim_mprotect(void* address, std::size_t bytes, int prot) {
  const std::size_t pages = whole_pages(bytes) / state.model.page_bytes;
  enter_kernel_if_simulated(state.model.page_protect * pages);
  shoot_down_if_simulated(reinterpret_cast<std::uintptr_t>(address), whole_pages(bytes), rights_of(prot));
  set_rights(reinterpret_cast<std::uintptr_t>(address), whole_pages(bytes), rights_of(prot));
  return 0;
}

int txsync_sim_madvise(void*, std::size_t, int) {
  enter_kernel_if_simulated(0);
  return 0;
}

void* txsync_sim_mremap(void*, std::size_t, std::size_t, int, void*) { txsync_sim_unsupported("mremap"); }

}  // extern "C"
