// SPDX-License-Identifier: Apache-2.0
#include "known_tags.hpp"

#include <dlfcn.h>

#include "call_chain.hpp"
#include "main_heap.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

constinit tags_by_call<1u << 11> tags;
constinit std::atomic<std::uint16_t> tag_of_all{0};  // relaxed, both: nothing else is read because of it

/// Whether the object lies in no loaded file.
bool is_dynamic(const void* object) noexcept {
  if (is_on_stack(object) || is_on_main_heap(object)) return true;
  dl_find_object unused;  // not loaded_object(), which clears and copies it for nothing
  return _dl_find_object(const_cast<void*>(object), &unused) != 0;
}

}  // namespace

std::uint16_t known_tag(std::uintptr_t call, const void* mutex) noexcept {
  const std::uint16_t of_all = tag_of_all.load(std::memory_order_relaxed);
  if (of_all != 0) return of_all;
  const std::uint16_t tag = tags.find(call);
  return tag != 0 && is_dynamic(mutex) ? tag : std::uint16_t{0};
}

void remember_tag(std::uintptr_t call, std::uint16_t tag) noexcept { tags.remember(call, tag); }

void remember_tag_of_all(std::uint16_t tag) noexcept { tag_of_all.store(tag, std::memory_order_relaxed); }

void forget_tags() noexcept { tags.forget(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
