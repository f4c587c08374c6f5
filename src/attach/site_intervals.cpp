// SPDX-License-Identifier: Apache-2.0
#include "attach/site_intervals.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include <txsync/machine/assert.hpp>

#include "observe/document/sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {
namespace {

std::uint64_t all_wait_ns(const observe::site_totals& one) { return one.wait_ns + one.failed_wait_ns; }

std::uint64_t less(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

}  // namespace

std::vector<site_interval> intervals_of(const std::vector<launch::listed_site>& sites, const channel_counts& earlier,
                                        const channel_counts& later) {
  TXSYNC_ASSERT(earlier.totals.size() <= later.totals.size(), "the later look knows the sites of the earlier one");
  std::vector<site_interval> made;
  const double seconds = std::max(1e-9, static_cast<double>(less(later.at_ns, earlier.at_ns)) / 1e9);
  for (std::size_t i = 0; i < later.totals.size() && i < sites.size(); ++i) {
    const observe::site_totals before = i < earlier.totals.size() ? earlier.totals[i] : observe::site_totals();
    const observe::site_totals& now = later.totals[i];
    const observe::site_totals between = observe::difference(now, before);
    // A wait that went on at the earlier look was counted up to that moment.
    const std::uint64_t wait_ns = less(all_wait_ns(now), all_wait_ns(before));
    if (observe::is_idle(between) && wait_ns == 0 && now.unfinished_waits == 0) continue;
    site_interval one{observe::record_of(between), seconds, wait_ns, now.unfinished_waits};
    one.site.name = sites[i].name;
    one.site.kind = sites[i].kind;
    one.site.where = sites[i].where;
    one.site.module = sites[i].module;
    made.push_back(std::move(one));
  }
  std::sort(made.begin(), made.end(), [](const site_interval& a, const site_interval& b) {
    return std::tie(b.wait_ns, b.site.acquisitions, a.site.name) <
           std::tie(a.wait_ns, a.site.acquisitions, b.site.name);
  });
  return made;
}

observe::json interval_json(const site_interval& one) {
  observe::json made = observe::to_json(one.site);
  made["interval_wait_ns"] = one.wait_ns;
  made["waiting_now"] = one.waiting_now;
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
