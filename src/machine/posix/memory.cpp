// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/memory.hpp>

#include "permit.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {

constexpr int all_rights = PROT_READ | PROT_WRITE;

int rights_of(page_rights rights) noexcept {
  switch (rights) {
    case page_rights::none:
      return PROT_NONE;
    case page_rights::read:
      return PROT_READ;
    case page_rights::read_write:
      break;
  }
  return all_rights;
}

void* or_null(void* mapped) noexcept { return mapped == MAP_FAILED ? nullptr : mapped; }

}  // namespace

std::size_t page_size() noexcept {
  // Found by the first caller; all would find the same. Relaxed: it guards no other data.
  static constinit std::atomic<std::size_t> size{0};
  std::size_t known = size.load(std::memory_order_relaxed);
  if (known == 0) {
    known = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    size.store(known, std::memory_order_relaxed);
  }
  return known;
}

void* map_pages(std::size_t bytes) noexcept {
  if (!detail::permitted(detail::system_call::map_pages)) return nullptr;
  return or_null(mmap(nullptr, bytes, all_rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

namespace {

/// Where the addresses are null, anywhere. False: one of them is still, or again, null.
bool map_both(double_mapping& at, std::size_t bytes) noexcept {
  const int memory = memfd_create("txsync", MFD_CLOEXEC);
  const bool has_memory = memory >= 0 && ftruncate(memory, static_cast<off_t>(bytes)) == 0;
  for (void** const view : {&at.first, &at.second}) {
    const int fixed = *view != nullptr ? MAP_FIXED : 0;
    *view =
        has_memory ? or_null(mmap(*view, bytes, all_rights, MAP_SHARED | MAP_NORESERVE | fixed, memory, 0)) : nullptr;
  }
  if (memory >= 0) close(memory);  // the mappings keep the memory alive
  return at.first != nullptr && at.second != nullptr;
}

}  // namespace

double_mapping map_pages_twice(std::size_t bytes) noexcept {
  double_mapping made;
  if (!detail::permitted(detail::system_call::map_pages) || map_both(made, bytes)) return made;
  if (made.first != nullptr) unmap_pages(made.first, bytes);
  if (made.second != nullptr) unmap_pages(made.second, bytes);
  return {};
}

bool renew_pages_twice(const double_mapping& at, std::size_t bytes) noexcept {
  double_mapping made = at;
  if (map_both(made, bytes)) return true;
  unmap_pages(at.first, bytes);
  unmap_pages(at.second, bytes);
  return false;
}

void unmap_pages(void* address, std::size_t bytes) noexcept {
  TXSYNC_ASSERT(reinterpret_cast<std::uintptr_t>(address) % page_size() == 0, "the address is that of mapped pages");
  munmap(address, bytes);
}

void discard_pages(void* address, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  TXSYNC_ASSERT(reinterpret_cast<std::uintptr_t>(address) % page_size() == 0, "the address is that of mapped pages");
  // The first is for memory with two addresses, and is refused for any other.
  if (madvise(address, bytes, MADV_REMOVE) != 0) static_cast<void>(madvise(address, bytes, MADV_DONTNEED));
}

void populate_pages(void* address, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  TXSYNC_ASSERT(reinterpret_cast<std::uintptr_t>(address) % page_size() == 0, "the address is that of mapped pages");
  if (madvise(address, bytes, MADV_POPULATE_WRITE) == 0 || errno != EINVAL) return;
  // Linux before 5.14. Others may write the page meanwhile.
  for (std::size_t at = 0; at < bytes; at += page_size())
    __atomic_fetch_or(static_cast<unsigned char*>(address) + at, 0, __ATOMIC_RELAXED);
}

bool protect_pages(void* address, std::size_t bytes, page_rights rights) noexcept {
  return detail::permitted(detail::system_call::protect_pages) && mprotect(address, bytes, rights_of(rights)) == 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
