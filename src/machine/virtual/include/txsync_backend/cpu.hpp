// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <txsync_backend/runtime.h>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

inline void prefetch_read(const void* address) noexcept { txsync_sim_prefetch(address, 0); }
inline void prefetch_write(const void* address) noexcept { txsync_sim_prefetch(address, 1); }
inline void fence() noexcept { txsync_sim_fence(); }
inline void compiler_fence() noexcept { asm volatile("" ::: "memory"); }
inline void relax() noexcept { txsync_sim_relax(); }
inline std::uint64_t cycles() noexcept { return txsync_sim_cycles(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
