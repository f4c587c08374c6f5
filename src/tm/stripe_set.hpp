// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync/tm/detail/engine.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

/// Stripes of memory, as bits of a hash of their addresses. It may report a common stripe of two sets that have none.
class stripe_set {
 public:
  void add_all() noexcept {
    for (std::uint64_t& one : bits_) one = ~std::uint64_t{0};
  }
  void add(const word& cell) noexcept { add_index(reinterpret_cast<std::uintptr_t>(&cell) >> stripe_shift); }
  /// The same for a stripe's orec, by its index in a table.
  void add_index(std::uint64_t index) noexcept { bits_[index / 64 % words] |= std::uint64_t{1} << index % 64; }
  bool empty() const noexcept {
    std::uint64_t any = 0;
    for (const std::uint64_t one : bits_) any |= one;
    return any == 0;
  }
  bool meets(const stripe_set& other) const noexcept {
    std::uint64_t both = 0;
    for (unsigned i = 0; i < words; ++i) both |= bits_[i] & other.bits_[i];
    return both != 0;
  }

 private:
  static constexpr unsigned words = 8;
  std::uint64_t bits_[words] = {};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
