// SPDX-License-Identifier: Apache-2.0
#include "observe/document/recorded_sites.hpp"

#include <algorithm>
#include <string_view>

#include "observe/document/sites.hpp"
#include "observe/site_records.hpp"
#include "sim/protocol.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {
namespace {

/// One site while its records are read.
struct counted_site {
  std::string name;
  site_totals counted;
  std::uint32_t heeded = 0;
};

/// If the member belongs to the group, its name ends with the number of a cause.
void put_abort(std::uint64_t (&aborts)[abort_cause_count], std::string_view member, std::string_view group,
               std::uint64_t value) {
  if (!member.starts_with(group)) return;
  const auto cause = static_cast<std::size_t>(std::stoul(std::string(member.substr(group.size()))));
  if (cause < abort_cause_count) aborts[cause] = value;
}

/// Stores one record.
void put(counted_site& into, std::string_view member, std::uint64_t value) {
  if (member.starts_with(name_group)) {
    into.name = member.substr(std::string_view(name_group).size());
    std::replace(into.name.begin(), into.name.end(), space_in_name, ' ');
    return;
  }
  if (member == heeded_member) into.heeded = static_cast<std::uint32_t>(value);
  each_abort_group(into.counted, [&](const char* group, std::uint64_t(&aborts)[abort_cause_count]) {
    put_abort(aborts, member, group, value);
  });
  each_site_number(into.counted, [&](const char* known, std::uint64_t& number) {
    if (member == known) number = value;
  });
}

void add(std::vector<site_record>& list, const counted_site& one) {
  if (one.name.empty()) return;
  site_record made = record_of(one.counted);
  made.name = one.name;
  made.heeded = one.heeded;
  const auto known = std::find_if(list.begin(), list.end(), [&](const auto& other) { return other.name == one.name; });
  if (known == list.end()) {
    list.push_back(std::move(made));
    return;
  }
  known->acquisitions += made.acquisitions;
  known->unwatched += made.unwatched;
  known->contended += made.contended;
  known->wait_ns += made.wait_ns;
  known->max_wait_ns = std::max(known->max_wait_ns, made.max_wait_ns);
  known->failed_waits += made.failed_waits;
  known->failed_wait_ns += made.failed_wait_ns;
  known->heeded |= made.heeded;
  add(known->speculation, made.speculation);
  add(known->transactions, made.transactions);
  add(known->path, made.path);
}

}  // namespace

std::vector<site_record> recorded_sites(const std::map<std::string, std::uint64_t>& records) {
  const std::string group = std::string(sim::number_record::program) + sites_group;
  std::vector<site_record> list;
  std::string id;
  counted_site site;
  for (const auto& [record, value] : records) {
    if (!record.starts_with(group)) continue;
    const std::size_t end = record.find('.', group.size());
    const std::string of = record.substr(group.size(), end - group.size());
    if (of != id) {
      add(list, site);
      site = {};
      id = of;
    }
    put(site, std::string_view(record).substr(end + 1), value);
  }
  add(list, site);
  return list;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
