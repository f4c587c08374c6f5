// SPDX-License-Identifier: Apache-2.0
#include "main_heap.hpp"

#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "loaded_object.hpp"

/// Where the C library keeps the end of the data segment. It is read here, since a call of sbrk() may be another
/// library's. And a sandbox may end a process that asks the kernel. Weak: if it is missing, no heap is known.
extern "C" [[gnu::weak]] void* __curbrk;

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

constinit std::atomic<std::uintptr_t> begin{0};  // 0: not known yet. relaxed: the number is all there is

/// The first address after the program's own file; the highest of all if that is not known. It is found by the file's
/// headers: the loader reports the end of one segment only if there is room between segments (AArch64).
[[gnu::noinline, gnu::cold]] std::uintptr_t find_begin() noexcept {
  const std::uintptr_t headers = getauxval(AT_PHDR);
  const link_map* const program = loaded_object(headers).dlfo_link_map;
  std::uintptr_t past_file = UINTPTR_MAX;
  if (program != nullptr && &__curbrk != nullptr) {
    past_file = 1;
    const auto* header = reinterpret_cast<const ElfW(Phdr)*>(headers);
    for (unsigned long i = 0; i < getauxval(AT_PHNUM); ++i, ++header)
      if (header->p_type == PT_LOAD)
        past_file = std::max(past_file, program->l_addr + header->p_vaddr + header->p_memsz);
  }
  begin.store(past_file, std::memory_order_relaxed);
  return past_file;
}

}  // namespace

bool is_on_main_heap(const void* object) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  std::uintptr_t first = begin.load(std::memory_order_relaxed);
  if (first == 0) [[unlikely]]
    first = find_begin();
  if (address < first) return false;
  // relaxed: another thread may move it, and an earlier end is as good
  return address < reinterpret_cast<std::uintptr_t>(std::atomic_ref(__curbrk).load(std::memory_order_relaxed));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
