// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace detail {
/// The address of fork_count() + 1. If it is null, or if the value there is 0, fork_count() has to be called.
TXSYNC_EXPORT extern constinit std::atomic<std::atomic<std::uint32_t>*> fork_page;
}  // namespace detail

inline bool is_forked() noexcept {
  // acquire pairs with the exchange in count_fork()
  const std::atomic<std::uint32_t>* const page = detail::fork_page.load(std::memory_order_acquire);
  // relaxed: a number, which the child of a fork reads as 0
  const bool is_first = page != nullptr && page->load(std::memory_order_relaxed) == 1;
  return !is_first && fork_count() != 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
