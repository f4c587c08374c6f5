// SPDX-License-Identifier: Apache-2.0
#include "tune/slowdown.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::tune {
namespace {

/// The average wait in a run. A site that the reference does not have waited for nothing there.
double reference_wait_ns(const outcome& result, const std::string& site) {
  const auto at = std::find_if(result.reference_sites.begin(), result.reference_sites.end(),
                               [&](const site_seen& one) { return one.counted.name == site; });
  if (at == result.reference_sites.end()) return 0;
  return static_cast<double>(at->counted.all_wait_ns()) / static_cast<double>(result.reference_runs);
}

}  // namespace

std::optional<slowdown> slowdown_of(const arm& slow_arm, const observe::interval& ratio, const outcome& result) {
  if (ratio.median <= 0 || ratio.median * min_slowdown > 1) return std::nullopt;
  slowdown slowest{.factor = 1 / ratio.median, .site = {}, .added_wait_ns = 0};
  if (result.reference_runs == 0 || result.reference_sites.empty()) return slowest;
  for (const site_seen& site : slow_arm.sites) {
    const double wait_ns =
        static_cast<double>(site.counted.all_wait_ns()) / static_cast<double>(slow_arm.values.size());
    const double added_ns = wait_ns - reference_wait_ns(result, site.counted.name);
    if (added_ns <= slowest.added_wait_ns) continue;
    slowest.site = site.counted.name;
    slowest.added_wait_ns = added_ns;
  }
  return slowest;
}

std::string words_of(const slowdown& slow) {
  std::string words = fmt::format("{:.3g} times as slow as what you have", slow.factor);
  if (slow.site.empty()) return words;
  return words + fmt::format("; its threads wait {:.3g} s more in a run at {}", slow.added_wait_ns / 1e9, slow.site);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
