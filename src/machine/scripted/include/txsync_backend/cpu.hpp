// SPDX-License-Identifier: Apache-2.0
// Hints do nothing but are counted. Clocks are the script's (src/machine/scripted/script.hpp).
#pragma once

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace detail {
void scripted_prefetch(const void* address, bool write) noexcept;
void scripted_relax() noexcept;
std::uint64_t scripted_cycles() noexcept;
void scripted_step() noexcept;
}  // namespace detail

inline void prefetch_read(const void* address) noexcept { detail::scripted_prefetch(address, false); }
inline void prefetch_write(const void* address) noexcept { detail::scripted_prefetch(address, true); }
inline void fence() noexcept {
  detail::scripted_step();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void compiler_fence() noexcept { asm volatile("" ::: "memory"); }
inline void relax() noexcept { detail::scripted_relax(); }
inline std::uint64_t cycles() noexcept { return detail::scripted_cycles(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
