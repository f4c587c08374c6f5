// SPDX-License-Identifier: Apache-2.0
#include "sharing.hpp"

namespace txsync::inline TXSYNC_BACKEND::detail {

sharing_record& sharing_record::of(const void* lock) noexcept {
  constexpr std::size_t size = 64;
  static constinit sharing_record records[size] = {};
  const std::uint64_t mixed = (reinterpret_cast<std::uintptr_t>(lock) >> 3) * 0x9E3779B97F4A7C15u;
  sharing_record& one = records[mixed >> 58];
  // relaxed throughout: hints
  if (one.lock_.load(std::memory_order_relaxed) != lock) {
    one.lock_.store(lock, std::memory_order_relaxed);
    one.rates_[0].store(0, std::memory_order_relaxed);
    one.rates_[1].store(0, std::memory_order_relaxed);
    one.trials_.store(0, std::memory_order_relaxed);
  }
  return one;
}

}  // namespace txsync::inline TXSYNC_BACKEND::detail
