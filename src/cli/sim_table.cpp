// SPDX-License-Identifier: Apache-2.0
// What `txsync sim` prints beyond the table of `txsync bench`: what became of the attempts, and where they ended.
#include <algorithm>

#include "cli/sim.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

using observe::point;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

bool has_attempts(const point& one) { return one.attempts && one.attempts->attempts != 0; }

std::string causes_text(const point& one) {
  std::string text;
  for (const auto& [cause, count] : one.attempts->aborts) {
    char part[64];
    std::snprintf(part, sizeof part, "%s%s %.1f%%", text.empty() ? "" : ", ", cause.c_str(),
                  percent(count, one.attempts->attempts));
    text += part;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

void print_attempts(std::FILE* out, const sim_result& result) {
  const std::vector<point>& points = result.bench.points;
  if (std::none_of(points.begin(), points.end(), has_attempts)) return;
  std::fprintf(out, "\nAttempts (hardware transactions), and their cycles as part of all that the threads had\n");
  std::fprintf(out, "threads  %-16s %10s %10s  %9s %9s  aborts by cause\n", "lock", "attempts", "committed", "in tx %",
               "aborted %");
  for (const point& one : points) {
    if (!has_attempts(one)) continue;
    std::fprintf(out, "%7u  %-16s %10llu %9.1f%%  %8.1f%% %8.1f%%  %s\n", one.threads, one.subject.c_str(),
                 static_cast<unsigned long long>(one.attempts->attempts),
                 percent(one.attempts->commits, one.attempts->attempts),
                 percent(one.cycles->transactional, one.cycles->total), percent(one.cycles->aborted, one.cycles->total),
                 causes_text(one).c_str());
  }
}

void print_abort_sites(std::FILE* out, const sim_result& result) {
  for (std::size_t i = 0; i < result.aborts.size(); ++i) {
    const point& one = result.bench.points[i];
    // The table above has them all; the places are shown where each lock had the most threads.
    const bool more_follows =
        std::any_of(result.bench.points.begin() + static_cast<std::ptrdiff_t>(i) + 1, result.bench.points.end(),
                    [&](const point& other) { return other.subject == one.subject; });
    if (result.aborts[i].empty() || more_follows) continue;
    std::fprintf(out, "\nWhere attempts of %s at %u threads ended\n", one.subject.c_str(), one.threads);
    for (const abort_site& site : result.aborts[i]) {
      std::fprintf(out, "%9llu  %-14s %s%s%s%s%s\n", static_cast<unsigned long long>(site.count), site.cause.c_str(),
                   site.own.c_str(), site.other.empty() ? "" : "  met  ", site.other.c_str(),
                   site.data.empty() ? "" : "  at line ", site.data.c_str());
    }
  }
}

}  // namespace txsync::inline TXSYNC_BACKEND::cli
