// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// What one source sets of a site's policy: some bits of its word (policy::packed), and nothing of the others.
struct partial_policy {
  std::uint32_t word = 0;
  std::uint32_t mask = 0;  ///< the bits that are set

  /// The policy of a site that did `before`, with these bits set.
  constexpr std::uint32_t over(std::uint32_t before) const noexcept { return (before & ~mask) | (word & mask); }
  /// Combines both. Where both set a bit, this one wins.
  constexpr partial_policy over(partial_policy before) const noexcept {
    return {over(before.word), before.mask | mask};
  }
  bool operator==(const partial_policy&) const = default;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
