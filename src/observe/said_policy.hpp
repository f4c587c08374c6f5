// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::observe {

/// What somebody says of a site's policy: some bits of its word (policy::packed), and nothing of the others.
struct said_policy {
  std::uint32_t word = 0;
  std::uint32_t said = 0;  ///< which bits

  /// What a site does of which this is said, and which did `before` otherwise.
  constexpr std::uint32_t over(std::uint32_t before) const noexcept { return (before & ~said) | (word & said); }
  /// Both are said, and where they differ this counts.
  constexpr said_policy over(said_policy before) const noexcept { return {over(before.word), before.said | said}; }
  bool operator==(const said_policy&) const = default;
};

}  // namespace txsync::inline TXSYNC_BACKEND::observe
