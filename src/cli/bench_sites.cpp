// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_sites.hpp"

#include <algorithm>

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

using observe::site_totals;

/// All known sites; no later one is missing from the list once it has grown.
std::vector<site_totals> all_sites() {
  std::vector<site_totals> list(observe::snapshot(nullptr, 0));
  const std::uint32_t known = observe::snapshot(list.data(), static_cast<std::uint32_t>(list.size()));
  list.resize(std::min<std::size_t>(list.size(), known));
  return list;
}

void add(site_totals& sum, const site_totals& part) {
  sum.name = part.name;
  sum.id = part.id;
  sum.acquisitions += part.acquisitions;
  sum.contended += part.contended;
  sum.wait_ns += part.wait_ns;
  sum.hold_ns += part.hold_ns;
  sum.condition_waits += part.condition_waits;
  sum.condition_wait_ns += part.condition_wait_ns;
  for (std::size_t i = 0; i < observe::buckets::count; ++i) {
    sum.wait.slots[i] += part.wait.slots[i];
    sum.hold.slots[i] += part.hold.slots[i];
  }
}

observe::percentile_record percentiles_of(const observe::histogram_total& times) {
  observe::percentile_record made{times.count(), {}};
  if (made.samples == 0) return made;
  for (const auto& [name, part] : observe::written_percentiles) {
    made.values.emplace_back(name, static_cast<double>(times.percentile(part)));
  }
  return made;
}

}  // namespace

void site_watch::begin() { before_ = all_sites(); }

void site_watch::end() {
  const std::vector<site_totals> now = all_sites();
  if (totals_.size() < now.size()) totals_.resize(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    add(totals_[i], i < before_.size() ? observe::difference(now[i], before_[i]) : now[i]);
  }
}

std::vector<observe::site_record> site_watch::records() const {
  std::vector<observe::site_record> list;
  for (const site_totals& one : totals_) {
    if (one.acquisitions == 0 && one.contended == 0 && one.condition_waits == 0) continue;
    list.push_back({one.name, one.acquisitions, one.contended, one.wait_ns, one.hold_ns, one.condition_waits,
                    one.condition_wait_ns, percentiles_of(one.wait), percentiles_of(one.hold)});
  }
  return list;
}

}  // namespace txsync::inline TXSYNC_BACKEND::cli
