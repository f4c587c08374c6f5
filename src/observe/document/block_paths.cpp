// SPDX-License-Identifier: Apache-2.0
#include "observe/document/block_paths.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/core.h>

#include "base/print.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {
namespace {

struct block_commits {
  std::uint64_t in_hardware = 0, in_software = 0, serially = 0;

  std::uint64_t all() const { return in_hardware + in_software; }
};

block_commits commits_of(const site_record& site) {
  block_commits made;
  if (site.speculation) made.in_hardware = site.speculation->commits;
  if (site.transactions) {
    made.in_software = site.transactions->commits;
    made.serially = site.transactions->alone;
  }
  return made;
}

std::string costs_of(const path_record& path) {
  if (path.hardware_cycles == 0 && path.software_cycles == 0) return "no path has been timed often enough";
  const auto told = [](std::uint64_t cycles, const char* where) {
    return cycles == 0 ? fmt::format("not timed often enough {}", where) : fmt::format("{} cycles {}", cycles, where);
  };
  const std::string hardware = told(path.hardware_cycles, "in hardware");
  const std::string software = told(path.software_cycles, "in software");
  const std::string both = path.in_hardware ? hardware + ", " + software : software + ", " + hardware;
  const std::uint64_t preferred = path.in_hardware ? path.hardware_cycles : path.software_cycles;
  const std::uint64_t other = path.in_hardware ? path.software_cycles : path.hardware_cycles;
  return other != 0 && other < preferred ? both + ": not enough for a change" : both;
}

std::string reason_of(const path_record& path) {
  if (path.reason == "cycles" || path.reason == "not-timed") return costs_of(path);
  if (path.reason == "no-hardware") return "hardware transactions do not commit here";
  if (path.reason == "block-policy") return "the block's policy excludes the hardware";
  return path.in_hardware ? "the algorithm tries the hardware first" : "the algorithm makes no attempts in hardware";
}

}  // namespace

std::string why_of(const path_record& path, const site_record& site) {
  std::string made = reason_of(path);
  if (!site.speculation || site.speculation->aborts.empty()) return made;
  const auto& aborts = site.speculation->aborts;
  const auto most =
      std::max_element(aborts.begin(), aborts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return made + fmt::format("; {} of {} attempts aborted, {} by {}",
                            site.speculation->attempts - site.speculation->commits, site.speculation->attempts,
                            most->second, most->first);
}

void print_block_paths(std::FILE* out, const std::string& lead_heading, std::size_t width, std::vector<site_row> rows,
                       std::size_t most) {
  std::erase_if(rows, [](const site_row& row) { return !row.site->path; });
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(), [](const site_row& a, const site_row& b) {
    return commits_of(*a.site).all() > commits_of(*b.site).all();
  });
  base::print(out, "\natomic blocks by path (serially: of those in software, with no other block beside)\n");
  base::print(out, "{:{}}{:>12} {:>12} {:>10}  {:16} {:8}  block; why\n", lead_heading, width, "in hardware",
              "in software", "serially", "algorithm", "prefers");
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) {
    const site_record& site = *rows[i].site;
    const path_record path = site.path.value_or(path_record());
    const block_commits commits = commits_of(site);
    base::print(out, "{}{:12} {:12} {:10}  {:16} {:8}  {}; {}\n", base::padded(rows[i].lead, width),
                commits.in_hardware, commits.in_software, commits.serially, printable(path.algorithm),
                path.in_hardware ? "hardware" : "software", printable(site.name), why_of(path, site));
  }
  if (rows.size() > most) base::print(out, "... and {} more\n", rows.size() - most);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
