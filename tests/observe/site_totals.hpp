// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <txsync/observe/counters.hpp>

/// What has been counted of that site.
inline txsync::observe::site_totals totals_of(txsync::site& place) {
  const std::uint32_t id = place.id();
  std::vector<txsync::observe::site_totals> all(txsync::observe::snapshot(nullptr, 0));
  txsync::observe::snapshot(all.data(), static_cast<std::uint32_t>(all.size()));
  return all.at(id - 1);
}
