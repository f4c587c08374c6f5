// SPDX-License-Identifier: Apache-2.0
// Pages that the program asks for, and their rights. Rights exist in the model only; the real pages are always usable.
#include <sys/mman.h>
#include <unistd.h>

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

/// One of the addresses of memory is unmapped. True if the memory has no other.
bool drop_view(std::uintptr_t address, std::size_t bytes) noexcept {
  const std::uintptr_t first = first_address_of(address);
  const bool is_second = first != address;
  const views left = page_of(first).mapped;
  if (left == (is_second ? views::first : views::second)) fail("the program unmaps pages that it has not mapped");
  forget_pages(address, bytes);
  if (is_second) munmap(reinterpret_cast<void*>(address), bytes);
  if (left != views::both) return true;
  for (std::size_t at = 0; at < bytes; at += state.model.page_bytes)
    page_of(first + at).mapped = is_second ? views::first : views::second;
  if (!is_second) set_rights(first, bytes, rights::none);
  return false;
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

void txsync_sim_map_pages_twice(std::size_t bytes, void** both) {
  enter_kernel_if_simulated(std::uint64_t{state.model.os_syscall} * 4);  // memfd_create, ftruncate, a mmap more, close
  both[0] = both[1] = nullptr;
  const int memory = bytes != 0 ? memfd_create("txsync sim", MFD_CLOEXEC) : -1;
  if (memory < 0) return;
  const std::size_t whole = whole_pages(bytes);
  const std::uintptr_t first = take_from_arena(whole, state.model.page_bytes);
  const bool mapped = ftruncate(memory, static_cast<off_t>(whole)) == 0 &&
                      put_there(first, whole, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) &&
                      put_there(first + second_view_distance, whole, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  close(memory);  // the mappings keep it
  if (!mapped) fail("the system gives no memory that is mapped twice");
  add_second_view(first, whole);
  both[0] = reinterpret_cast<void*>(first);
  both[1] = reinterpret_cast<void*>(first + second_view_distance);
}

void txsync_sim_unmap_pages(void* address, std::size_t bytes) {
  enter_kernel_if_simulated(0);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t first = first_address_of(at);
  const std::size_t whole = whole_pages(bytes);
  if (!is_in_arena(first, bytes)) fail("the program unmaps pages that it has not mapped");
  if (heap_block_at(first).bytes != 0) fail("the program unmaps pages of its heap");
  shoot_down_if_simulated(at, whole, rights::none);
  if (!drop_view(at, whole)) return;
  forget_pages(first, whole);
  if (state.oracle) oracle_forget(first, whole);
  if (state.follows_program) forget_accesses(first, whole);
  if (put_there(first, whole, PROT_NONE, 0, -1, 0)) give_to_arena(first, whole);
}

/// The contents stay, which a program must not rely on.
void txsync_sim_discard_pages(void* address, std::size_t bytes) {
  enter_kernel_if_simulated(0);
  const std::uintptr_t first = first_address_of(reinterpret_cast<std::uintptr_t>(address));
  const std::size_t whole = whole_pages(bytes);
  if (!is_in_arena(first, bytes)) fail("the program gives back pages that it has not mapped");
  shoot_down_if_simulated(first, whole, rights::none);
  forget_touches(first, whole);
  if (page_of(first).mapped != views::both) return;
  shoot_down_if_simulated(first + second_view_distance, whole, rights::none);
  forget_touches(first + second_view_distance, whole);
}

void txsync_sim_populate_pages(void* address, std::size_t bytes) {
  enter_kernel_if_simulated(0);
  if (state.current == nullptr || exploring()) return;  // in exploring orders no first touch is noted
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  for (std::uintptr_t at = first; at < first + bytes; at += state.model.page_bytes) {
    if (page_of(at).allowed == rights::read_write && !page_of(at).is_touched) touch_first(*state.current, at);
  }
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

int txsync_sim_protect_pages(void* address, std::size_t bytes, int allowed) {
  constexpr int prots[] = {PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE};  // of machine::page_rights
  return txsync_sim_mprotect(address, bytes, prots[allowed]) == 0 ? 1 : 0;
}

int txsync_sim_madvise(void*, std::size_t, int) {
  enter_kernel_if_simulated(0);
  return 0;
}

void* txsync_sim_mremap(void*, std::size_t, std::size_t, int, void*) { txsync_sim_unsupported("mremap"); }

}  // extern "C"
