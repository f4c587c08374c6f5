// SPDX-License-Identifier: Apache-2.0
// The tables and the documents of txsync top.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "attach/channel_view.hpp"
#include "attach/waiting.hpp"
#include "observe/document/document.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {

/// What happened at a site between two looks.
struct site_interval {
  observe::site_record site;      ///< in the interval
  double seconds = 0;             ///< length of the interval
  std::uint64_t wait_ns = 0;      ///< all waiting within the interval, including waits that go on
  std::uint32_t waiting_now = 0;  ///< threads that waited at the later look
};

/// The sites at which something happened, the longest waits first. Requires: `later` knows at least the sites that
/// `earlier` knows, and `sites` those of `later`.
std::vector<site_interval> intervals_of(const std::vector<launch::listed_site>& sites,
                                        const attach::channel_counts& earlier, const attach::channel_counts& later);

void print_intervals(std::FILE* out, const std::vector<site_interval>& all, std::size_t most);
observe::json interval_json(const site_interval& one);

void print_threads(std::FILE* out, const attach::waiting& seen);
observe::json waiting_json(const attach::waiting& seen);

}  // namespace txsync::inline TXSYNC_BACKEND::cli
