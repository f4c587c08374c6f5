// SPDX-License-Identifier: Apache-2.0
// What `txsync bench` prints for people.
#include <algorithm>
#include <cmath>

#include "cli/bench_table.hpp"
#include "cli/site_table.hpp"
#include "cli/verb.hpp"
#include "measure/describe.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

using observe::point;

/// Four digits or more, whatever the size.
std::string millions(double value) {
  const double shown = value / 1e6;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", shown >= 100 ? 1 : shown >= 1 ? 3 : 5, shown);
  return text;
}

std::size_t name_width(const measure::bench_result& result) {
  std::size_t width = 4;
  for (const point& one : result.points) width = std::max(width, one.subject.size());
  return width;
}

void print_row(std::FILE* out, const point& one, int width, bool latency) {
  std::fprintf(out, "%7u  %-*s  %-5s %-6s", one.threads, width, one.subject.c_str(), to_string(one.kind),
               one.waiting.empty() ? "-" : one.waiting.c_str());
  if (!one.faults.empty()) {
    std::fprintf(out, " FAILED at %s\n", one.faults.front().c_str());
    return;
  }
  const observe::summary range = observe::summarize(one.values);
  std::fprintf(out, " %10s %10s %10s  %8.2f", millions(range.median).c_str(), millions(range.low).c_str(),
               millions(range.high).c_str(), observe::fairness(one.fewest, one.most));
  if (!one.fairness.slowest_share.empty()) std::fprintf(out, "  %s", observe::fairness_text(one.fairness).c_str());
  if (latency && !one.latency.empty()) {
    const observe::percentile_record& times = one.latency.front().second;
    std::fprintf(out, " %9.0f %9.0f %10.0f", percentile(times, "p50"), percentile(times, "p99"),
                 percentile(times, "p99.9"));
  }
  std::fputc('\n', out);
}

}  // namespace

void print_heading(std::FILE* out, const measure::bench_request& request, const std::string& machine) {
  std::fprintf(out, "%s: %s\n", request.workload->name, request.workload->summary);
  std::fprintf(out, "  with%s%s%s\n",
               measure::settings_text(measure::named_values(*request.workload, request.values)).c_str(),
               request.preset.empty() ? "" : "; preset ", request.preset.c_str());
  std::fprintf(out, "  on   %s\n", machine.c_str());
  const std::string length = request.plan.operations != 0
                                 ? std::to_string(request.plan.operations) + " operations a thread"
                                 : std::to_string(request.plan.duration_ns / 1'000'000) + " ms";
  std::fprintf(out, "  %u interleaved repetitions of %s, place %s, seed %llu\n\n", request.repeat, length.c_str(),
               request.placement.c_str(), static_cast<unsigned long long>(request.plan.seed));
  std::fflush(out);
}

void print_table(std::FILE* out, const measure::bench_request& request, const measure::bench_result& result) {
  const auto width = static_cast<int>(name_width(result));
  const bool latency = request.plan.sample_every != 0;
  const bool shares = std::any_of(result.points.begin(), result.points.end(),
                                  [](const point& one) { return !one.fairness.slowest_share.empty(); });
  std::fprintf(out, "%*s million %s/s\n", 7 + 2 + width + 2 + 12 + 1, "", request.workload->operation);
  std::fprintf(out, "threads  %-*s  %-5s %-6s %10s %10s %10s  %8s%s%s%s\n", width, "lock", "kind", "waits", "median",
               "low", "high", "fairness", shares ? "  " : "", shares ? observe::fairness_head : "",
               latency ? "    p50 ns    p99 ns   p99.9 ns" : "");
  unsigned threads = 0;
  for (const point& one : result.points) {
    if (threads != 0 && threads != one.threads) std::fputc('\n', out);
    threads = one.threads;
    print_row(out, one, width, latency);
  }
  std::fprintf(out, "\nfairness: operations of the thread with the fewest to that with the most\n");
  if (shares) std::fputs(observe::fairness_legend, out);
  if (latency) std::fprintf(out, "p50, p99, p99.9 ns: of an operation, from before lock() to after unlock()\n");
}

void print_sites(std::FILE* out, const measure::bench_result& result) {
  const auto width = static_cast<int>(name_width(result));
  const auto lead = [width](const char* threads, const std::string& lock) {
    char text[256];
    std::snprintf(text, sizeof text, "%7s  %-*s", threads, width, lock.c_str());
    return std::string(text);
  };
  std::vector<site_row> rows;
  for (const point& one : result.points) {
    for (const observe::site_record& site : one.sites) {
      rows.push_back({lead(std::to_string(one.threads).c_str(), one.subject), &site});
    }
  }
  std::fputc('\n', out);
  print_site_table(out, lead("threads", "lock"), rows, rows.size());
  std::fprintf(out,
               "\nsites: locks of txsync only; all repetitions and their run-in; acquisitions and hold are sampled\n");
}

int report_faults(const char* verb, const measure::bench_result& result) {
  int status = ok;
  unsigned unpinned = 0;
  for (const observe::point& one : result.points) {
    unpinned = std::max(unpinned, one.unpinned);
    for (const std::string& fault : one.faults) {
      std::fprintf(stderr, "txsync %s: %s on %s at %u threads failed: %s\n", verb, one.workload.c_str(),
                   one.subject.c_str(), one.threads, fault.c_str());
      status = failed;
    }
  }
  if (unpinned != 0) std::fprintf(stderr, "txsync %s: the system refused to pin up to %u threads\n", verb, unpinned);
  if (result.interrupted) {
    std::fprintf(stderr, "txsync %s: interrupted after %u of %u runs\n", verb, result.runs, result.planned);
    status = failed;
  }
  return status;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
