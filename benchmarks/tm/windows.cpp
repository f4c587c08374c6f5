// SPDX-License-Identifier: Apache-2.0
#include "tm/windows.hpp"

#include <algorithm>
#include <string>

#include "locks/compared_rounds.hpp"
#include "observe/statistics.hpp"
#include "workloads/harness/windows.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

double median_of(const std::vector<double>& values) { return values.empty() ? 0 : observe::summarize(values).median; }

/// Throughput over windows, their share, the runs with enough of them, and the time of a cache line.
std::string windows_text(const observe::undisturbed_record& seen) {
  char line[96];
  if (seen.throughput.empty()) {
    std::snprintf(line, sizeof line, "%9s %5s %7s %7s", "-", "-", "-", "-");
    return line;
  }
  std::vector<double> enough = seen.throughput;
  std::erase(enough, 0.0);
  const std::string runs = std::to_string(enough.size()) + "/" + std::to_string(seen.throughput.size());
  std::snprintf(line, sizeof line, "%9.2f %5.2f %7s %7.0f", median_of(enough) / 1e6, median_of(seen.share),
                runs.c_str(), median_of(seen.line_before_ns));
  return line;
}

}  // namespace

void print_windows_legend(std::FILE* out, const request& wanted) {
  if (!wanted.watches_windows) {
    std::fprintf(out, "These runs are too short for undisturbed windows: whole runs are compared.\n");
    return;
  }
  std::fprintf(
      out,
      "In the tables of windows, medians: whole, the throughput of whole runs; windows, that over the stretches of %g "
      "ms "
      "in\n"
      "which every thread ran without a gap of more than %g ms; share, their part of the run; runs, how many of the "
      "runs "
      "had\n"
      "%llu of them; line, how long a cache line took between two CPUs, before the runs. Blocks: how long 99.9 %% took "
      "at\n"
      "most, in runs of their own in which every block is timed; slowest: blocks of the slowest thread to an equal "
      "share.\n"
      "Claims compare windows where no more threads run than there are CPUs, over rounds in which the line took %g ns "
      "and "
      "more\n"
      "(CPUs far apart) or less before and after each run, the longest at most %g times the shortest; else whole "
      "runs.\n",
      static_cast<double>(workloads::window_ns) / 1e6, static_cast<double>(workloads::max_gap_ns) / 1e6,
      static_cast<unsigned long long>(workloads::min_windows), min_far_ns, max_line_spread);
}

void print_windows(std::FILE* out, const request& wanted, const std::vector<cell>& cells, std::size_t section) {
  if (!wanted.watches_windows) return;
  std::fprintf(out, "  -- windows\n  %-26s %7s %9s %9s %5s %7s %7s %9s %7s\n", "", "threads", "whole", "windows",
               "share", "runs", "line ns", "p99.9 us", "slowest");
  for (const cell& one : cells) {
    if (one.section != section || one.throughput.empty()) continue;
    std::fprintf(out, "  %-26s %7u %9.2f %s %9.2f %7.2f\n", wanted.subjects[one.subject].name, one.threads,
                 median_of(one.throughput) / 1e6, windows_text(one.undisturbed).c_str(),
                 static_cast<double>(one.latency.percentile(0.999)) / 1e3, median_of(one.fairness.slowest_share));
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
