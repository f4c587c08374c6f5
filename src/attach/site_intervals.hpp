// SPDX-License-Identifier: Apache-2.0
// What the sites of a program under `txsync run` count between two looks.
#pragma once

#include <cstdint>
#include <vector>

#include "attach/channel_view.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

/// What happened at a site between two looks.
struct site_interval {
  observe::site_record site;      ///< in the interval
  double seconds = 0;             ///< length of the interval
  std::uint64_t wait_ns = 0;      ///< all waiting within the interval, including waits that go on
  std::uint32_t waiting_now = 0;  ///< threads that waited at the later look
};

/// The sites at which something happened, the longest waits first. Requires: `later` knows at least the sites that
/// `earlier` knows, and `sites` those of `later`.
std::vector<site_interval> intervals_of(const std::vector<launch::listed_site>& sites, const channel_counts& earlier,
                                        const channel_counts& later);

/// In the form of documents.
observe::json interval_json(const site_interval& one);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
