// SPDX-License-Identifier: Apache-2.0
#include "cli/site_programs.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <txsync/machine/assert.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

bool several_programs_waited(const std::vector<observe::site_record>& sites) {
  std::set<std::string> programs;
  for (const observe::site_record& site : sites)
    if (site.all_wait_ns() != 0) programs.insert(site.programs.begin(), site.programs.end());
  return programs.size() > 1;
}

std::string programs_of(const observe::site_record& site) {
  std::string made;
  for (const std::string& one : site.programs) made += (made.empty() ? "" : ", ") + one;
  return made;
}

std::string name_with_programs(const observe::site_record& site, bool is_said) {
  return is_said && !site.programs.empty() ? site.name + " (" + programs_of(site) + ")" : site.name;
}

std::vector<site_row> rows_by_program(const std::vector<observe::site_record>& sites, std::size_t max_rows) {
  TXSYNC_ASSERT(
      std::is_sorted(sites.begin(), sites.end(),
                     [](const auto& one, const auto& other) { return one.all_wait_ns() > other.all_wait_ns(); }),
      "the sites with the longest waits come first");
  std::vector<site_row> all;
  std::map<std::string, std::size_t> rows_of;
  for (const observe::site_record& site : sites) {
    all.push_back({programs_of(site), &site});
    ++rows_of[all.back().lead];
  }
  const std::size_t share = std::max<std::size_t>(1, max_rows / std::max<std::size_t>(1, rows_of.size()));
  std::map<std::string, std::size_t> seen;
  std::vector<site_row> first;
  std::vector<site_row> rest;
  for (site_row& row : all) (seen[row.lead]++ < share ? first : rest).push_back(std::move(row));
  first.insert(first.end(), rest.begin(), rest.end());
  const auto shown = static_cast<std::ptrdiff_t>(std::min(max_rows, first.size()));
  // The sites stand in one vector, in their order.
  std::sort(first.begin(), first.begin() + shown, [](const site_row& a, const site_row& b) { return a.site < b.site; });
  return first;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
