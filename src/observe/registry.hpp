// SPDX-License-Identifier: Apache-2.0
// The numbers of sites: given in order, never taken back.
#pragma once

#include <cstdint>

#include <txsync/site.hpp>

namespace txsync::inline TXSYNC_BACKEND::observe {

class site_registry {
 public:
  /// Numbers 1..count() are given.
  static std::uint32_t count() noexcept;
  /// The name of a given number; "" while its site is still being entered.
  static const char* name(std::uint32_t id) noexcept;
  static std::uint32_t enter(site& place) noexcept;
  /// A site whose number somebody else has given, as the launcher does for programs under `txsync run`; it has no name.
  static constexpr site numbered(std::uint32_t id) noexcept { return site("", id); }
};

}  // namespace txsync::inline TXSYNC_BACKEND::observe
