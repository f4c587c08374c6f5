// SPDX-License-Identifier: Apache-2.0
// Machines without HLE: the hint is not there, the accesses are.
#pragma once

namespace txsync::inline TXSYNC_BACKEND::machine {

inline std::uint32_t hle_acquire(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  return word.exchange(value, std::memory_order_acquire);  // pairs with hle_release
}
inline void hle_release(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  word.store(value, std::memory_order_release);  // pairs with hle_acquire
}

}  // namespace txsync::inline TXSYNC_BACKEND::machine
