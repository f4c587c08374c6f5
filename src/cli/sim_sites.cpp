// SPDX-License-Identifier: Apache-2.0
// What the sites of a simulated run counted of their attempts: the program's own count, beside the machine's
// (sim_attempts.cpp).
#include <algorithm>

#include "cli/sim.hpp"
#include "observe/document/sites.hpp"
#include "observe/site_records.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

constexpr std::string_view sites_group = "program.sites.";

/// True: the member is the group's, and the number of its cause stands behind it.
bool put_abort(std::uint64_t (&aborts)[abort_cause_count], std::string_view member, std::string_view group,
               std::uint64_t value) {
  if (!member.starts_with(group)) return false;
  const auto cause = static_cast<std::size_t>(std::stoul(std::string(member.substr(group.size()))));
  if (cause < abort_cause_count) aborts[cause] = value;
  return true;
}

/// Enters one record: "program.sites.ID.MEMBER".
void put(observe::site_totals& into, std::string& name, std::string_view member, std::uint64_t value) {
  constexpr std::string_view is = "is.";
  observe::attempt_totals& attempts = into.attempts;
  observe::transaction_totals& software = into.transactions;
  if (member.starts_with(is)) {
    name = member.substr(is.size());
    std::replace(name.begin(), name.end(), observe::space_in_name, ' ');
  } else if (!put_abort(attempts.aborts, member, "aborts.", value) &&
             !put_abort(software.aborts, member, "software.aborts.", value)) {
    const std::pair<std::string_view, std::uint64_t&> members[] = {{"acquisitions", into.acquisitions},
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
}

void add(std::vector<observe::site_record>& list, const std::string& name, const observe::site_totals& counted) {
  observe::site_record made = observe::record_of(counted);
  made.name = name;
  if (!made.speculation && !made.transactions) return;
  const auto known = std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.name == name; });
  if (known == list.end()) {
    list.push_back(std::move(made));
    return;
  }
  known->acquisitions += made.acquisitions;
  observe::add(known->speculation, made.speculation);
  observe::add(known->transactions, made.transactions);
}

}  // namespace

void add_sites(observe::point& point, const sim::image_result& seen) {
  std::string id;
  std::string name;
  observe::site_totals counted;
  for (const auto& [record, value] : seen.records) {
    if (!record.starts_with(sites_group)) continue;
    const std::size_t end = record.find('.', sites_group.size());
    const std::string of = record.substr(sites_group.size(), end - sites_group.size());
    if (of != id) {
      add(point.sites, name, counted);
      counted = {};
      id = of;
    }
    put(counted, name, std::string_view(record).substr(end + 1), value);
  }
  add(point.sites, name, counted);
}

}  // namespace txsync::inline TXSYNC_BACKEND::cli
