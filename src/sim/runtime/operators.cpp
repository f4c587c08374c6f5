// SPDX-License-Identifier: Apache-2.0
// operator new, so that a block is known by the code that asked for it and not by libstdc++'s call of malloc(). It is
// weak, because the program may have its own.
#include <bits/functexcept.h>

#include <cstddef>
#include <cstdint>
#include <new>

#include "heap.hpp"
#include "state.hpp"

namespace {

void* allocate_or_throw(std::size_t bytes, std::size_t alignment, std::uintptr_t code) {
  for (;;) {
    void* block = txsync::sim::allocate(bytes != 0 ? bytes : 1, alignment, code);
    if (block != nullptr) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) std::__throw_bad_alloc();
    handler();
  }
}

std::size_t whole(std::size_t bytes, std::align_val_t alignment) noexcept {
  if (txsync::sim::state.follows_program) return bytes;  // what is beyond them is guarded
  const auto step = static_cast<std::size_t>(alignment);
  return (bytes + step - 1) & ~(step - 1);
}

}  // namespace

#define TXSYNC_SIM_CALLER reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

[[gnu::weak]] void* operator new(std::size_t bytes) {
  return allocate_or_throw(bytes, alignof(std::max_align_t), TXSYNC_SIM_CALLER);
}
[[gnu::weak]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(whole(bytes, alignment), static_cast<std::size_t>(alignment), TXSYNC_SIM_CALLER);
}
[[gnu::weak]] void* operator new[](std::size_t bytes) {
  txsync::sim::next_allocation_is_from(TXSYNC_SIM_CALLER);
  return ::operator new(bytes);
}
[[gnu::weak]] void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  txsync::sim::next_allocation_is_from(TXSYNC_SIM_CALLER);
  return ::operator new(bytes, alignment);
}

#undef TXSYNC_SIM_CALLER
