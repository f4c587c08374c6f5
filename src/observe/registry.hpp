// SPDX-License-Identifier: Apache-2.0
// The numbers of sites: given in order, never taken back. Under `txsync run` the launcher gives them. Then there are
// gaps for the sites of pthread's locks, and sites of one name share a number.
#pragma once

#include <cstdint>

#include <txsync/site.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

class site_registry {
 public:
  /// No number greater than count() has been given.
  static std::uint32_t count() noexcept;
  /// The name of a given number; "" while its site is still being entered, and for gaps.
  static const char* name(std::uint32_t id) noexcept;
  /// The policy_parts that the locks of a site are known to heed.
  static std::uint32_t heeded(std::uint32_t id) noexcept;
  static std::uint32_t enter(site& the_site) noexcept;
  /// A site without a name, whose number is given by others, as the launcher does for programs under `txsync run`.
  static constexpr site numbered(std::uint32_t id) noexcept { return site("", id); }

  /// Policy files have been read (outside.hpp): puts what they say into the policy words of all sites that have
  /// numbers.
  static void put_policies() noexcept;

 private:
  static std::uint32_t number_here(site& the_site, bool takes_policies) noexcept;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
