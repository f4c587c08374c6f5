// SPDX-License-Identifier: Apache-2.0
#include "observe/document/recorded_sites.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "observe/document/sites.hpp"
#include "observe/site_records.hpp"

namespace txsync::inline TXSYNC_BACKEND::observe {
namespace {

constexpr std::string_view sites_group = "program.sites.";

/// One site while its records are read.
struct counted_site {
  std::string name;
  site_totals counted;
  std::uint32_t heeded = 0;
};

/// Whether the member belongs to the group. Its name then ends with the number of a cause.
bool put_abort(std::uint64_t (&aborts)[abort_cause_count], std::string_view member, std::string_view group,
               std::uint64_t value) {
  if (!member.starts_with(group)) return false;
  const auto cause = static_cast<std::size_t>(std::stoul(std::string(member.substr(group.size()))));
  if (cause < abort_cause_count) aborts[cause] = value;
  return true;
}

void put_number(site_totals& into, std::string_view member, std::uint64_t value) {
  attempt_totals& attempts = into.attempts;
  transaction_totals& software = into.transactions;
  const std::pair<std::string_view, std::uint64_t&> members[] = {{"acquisitions", into.acquisitions},
                                                                 {"contended", into.contended},
                                                                 {"wait_ns", into.wait_ns},
                                                                 {"max_wait_ns", into.max_wait_ns},
                                                                 {"failed_waits", into.failed_waits},
                                                                 {"failed_wait_ns", into.failed_wait_ns},
                                                                 {"commits", attempts.commits},
                                                                 {"elided", attempts.elided},
                                                                 {"failed", attempts.failed},
                                                                 {"lost_ns", attempts.lost_ns},
                                                                 {"lost_samples", attempts.lost_samples},
                                                                 {"lost_variance", attempts.lost_variance},
                                                                 {"software.commits", software.commits},
                                                                 {"software.alone", software.alone},
                                                                 {"software.waits", software.waits}};
  for (const auto& [known, number] : members) {
    if (known == member) number = value;
  }
}

/// Stores one record, "program.sites.ID.MEMBER".
void put(counted_site& into, std::string_view member, std::uint64_t value) {
  constexpr std::string_view is = "is.";
  if (member.starts_with(is)) {
    into.name = member.substr(is.size());
    std::replace(into.name.begin(), into.name.end(), space_in_name, ' ');
  } else if (member == "heeded") {
    into.heeded = static_cast<std::uint32_t>(value);
  } else if (!put_abort(into.counted.attempts.aborts, member, "aborts.", value) &&
             !put_abort(into.counted.transactions.aborts, member, "software.aborts.", value)) {
    put_number(into.counted, member, value);
  }
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
  known->contended += made.contended;
  known->wait_ns += made.wait_ns;
  known->max_wait_ns = std::max(known->max_wait_ns, made.max_wait_ns);
  known->failed_waits += made.failed_waits;
  known->failed_wait_ns += made.failed_wait_ns;
  known->heeded |= made.heeded;
  add(known->speculation, made.speculation);
  add(known->transactions, made.transactions);
}

}  // namespace

std::vector<site_record> recorded_sites(const std::map<std::string, std::uint64_t>& records) {
  std::vector<site_record> list;
  std::string id;
  counted_site site;
  for (const auto& [record, value] : records) {
    if (!record.starts_with(sites_group)) continue;
    const std::size_t end = record.find('.', sites_group.size());
    const std::string of = record.substr(sites_group.size(), end - sites_group.size());
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

}  // namespace txsync::inline TXSYNC_BACKEND::observe
