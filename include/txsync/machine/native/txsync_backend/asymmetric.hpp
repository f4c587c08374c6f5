// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include <txsync/machine/cpu.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace detail {
/// Whether heavy_fence() acts as a fence in the other threads, too. Relaxed: it guards nothing. It changes before main.
/// It changes once more if the system withdraws what it had allowed; heavy_fence() then waits for threads that have
/// read the old value.
TXSYNC_EXPORT extern std::atomic<bool> fences_are_asymmetric;
}  // namespace detail

inline void light_fence() noexcept {
  if (detail::fences_are_asymmetric.load(std::memory_order_relaxed)) [[likely]] {
    compiler_fence();
  } else {
    fence();
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
