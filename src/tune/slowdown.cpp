// SPDX-License-Identifier: Apache-2.0
#include "tune/slowdown.hpp"

#include <algorithm>
#include <cstdio>

namespace txsync::inline TXSYNC_BACKEND::tune {
namespace {

/// The average wait in a run. A site that the reference does not have waited for nothing there.
double reference_wait_ns(const outcome& found, const std::string& site) {
  const auto at = std::find_if(found.reference_sites.begin(), found.reference_sites.end(),
                               [&](const site_seen& one) { return one.counted.name == site; });
  if (at == found.reference_sites.end()) return 0;
  return static_cast<double>(at->counted.all_wait_ns()) / static_cast<double>(found.reference_runs);
}

}  // namespace

std::optional<slowdown> slowdown_of(const arm& one, const observe::interval& ratio, const outcome& found) {
  if (ratio.median <= 0 || ratio.median * min_slowdown > 1) return std::nullopt;
  slowdown made{.factor = 1 / ratio.median, .site = {}, .added_wait_ns = 0};
  if (found.reference_runs == 0 || found.reference_sites.empty()) return made;
  for (const site_seen& site : one.sites) {
    const double wait_ns = static_cast<double>(site.counted.all_wait_ns()) / static_cast<double>(one.values.size());
    const double added_ns = wait_ns - reference_wait_ns(found, site.counted.name);
    if (added_ns <= made.added_wait_ns) continue;
    made.site = site.counted.name;
    made.added_wait_ns = added_ns;
  }
  return made;
}

std::string words_of(const slowdown& found) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3g times as slow as what you have", found.factor);
  std::string words = text;
  if (found.site.empty()) return words;
  std::snprintf(text, sizeof text, "; its threads wait %.3g s more in a run at ", found.added_wait_ns / 1e9);
  return words + text + found.site;
}

}  // namespace txsync::inline TXSYNC_BACKEND::tune
