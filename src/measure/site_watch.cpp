// SPDX-License-Identifier: Apache-2.0
#include "measure/site_watch.hpp"

#include <algorithm>

#include "observe/document/sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::measure {
namespace {

using observe::site_totals;

/// All known sites. If the list has grown, all later ones are in it, too.
std::vector<site_totals> all_sites() {
  std::vector<site_totals> list(observe::snapshot(nullptr, 0));
  const std::uint32_t known = observe::snapshot(list.data(), static_cast<std::uint32_t>(list.size()));
  list.resize(std::min<std::size_t>(list.size(), known));
  return list;
}

}  // namespace

void site_watch::begin() { before_ = all_sites(); }

void site_watch::end() {
  const std::vector<site_totals> now = all_sites();
  if (totals_.size() < now.size()) totals_.resize(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    observe::add(totals_[i], i < before_.size() ? observe::difference(now[i], before_[i]) : now[i]);
  }
}

std::vector<observe::site_record> site_watch::records() const {
  std::vector<observe::site_record> list;
  for (const site_totals& one : totals_) {
    if (!observe::is_idle(one)) list.push_back(observe::record_of(one));
  }
  return list;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::measure
