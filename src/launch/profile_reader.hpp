// SPDX-License-Identifier: Apache-2.0
// Reads chains and events from the channel of a program that has ended.
#pragma once

#include <cstdint>
#include <vector>

#include "launch/blame.hpp"
#include "launch/channel_file.hpp"
#include "launch/place_name.hpp"
#include "launch/site_resolver.hpp"
#include "observe/blocks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

struct read_chains {
  std::vector<blame> waits;  ///< the longest waits first
  std::vector<blame> holds;
  std::uint64_t left_out = 0;  ///< sums for whose chains there was no room
};
/// Chains of equal calls become one. `all_waits`: what each site has waited in all (site i at [i - 1]). What no chain
/// stands for becomes the site's rest.
read_chains chains_of(const channel_file& channel, const std::vector<site_resolver::site>& sites, place_names& names,
                      const std::vector<observe::site_totals>& all_waits);

struct read_events {
  std::vector<lock_event> events;  ///< by their start times
  std::uint64_t left_out = 0;
};
/// `started_at`: when the run began, in machine::cycles().
read_events events_of(const channel_file& channel, const std::vector<site_resolver::site>& sites,
                      std::uint64_t started_at);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
