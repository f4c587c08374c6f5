// SPDX-License-Identifier: Apache-2.0
// What `txsync bench` prints for people.
#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "base/print.hpp"
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
  return fmt::format("{:.{}f}", shown, shown >= 100 ? 1 : shown >= 1 ? 3 : 5);
}

std::size_t name_width(const measure::bench_result& result) {
  std::size_t width = 4;
  for (const point& one : result.points) width = std::max(width, one.subject.size());
  return width;
}

void print_row(std::FILE* out, const point& one, std::size_t width, bool latency) {
  base::print(out, "{:7}  {:{}}  {:5} {:6}", one.threads, one.subject, width, to_string(one.kind),
              one.waiting.empty() ? "-" : one.waiting);
  if (!one.faults.empty()) {
    base::print(out, " FAILED at {}\n", one.faults.front());
    return;
  }
  const observe::summary range = observe::summarize(one.values);
  base::print(out, " {:>10} {:>10} {:>10}  {:>8.2f}", millions(range.median), millions(range.low), millions(range.high),
              observe::fairness(one.fewest, one.most));
  if (!one.fairness.slowest_share.empty()) base::print(out, "  {}", observe::fairness_text(one.fairness));
  if (latency && !one.latency.empty()) {
    const observe::percentile_record& times = one.latency.front().second;
    base::print(out, " {:>9.0f} {:>9.0f} {:>10.0f}", percentile(times, "p50"), percentile(times, "p99"),
                percentile(times, "p99.9"));
  }
  std::fputc('\n', out);
}

}  // namespace

void print_heading(std::FILE* out, const measure::bench_request& request, const std::string& machine) {
  base::print(out, "{}: {}\n", request.workload->name, request.workload->summary);
  base::print(out, "  with{}{}{}\n", measure::settings_text(measure::named_values(*request.workload, request.values)),
              request.preset.empty() ? "" : "; preset ", request.preset);
  base::print(out, "  on   {}\n", machine);
  const std::string length = request.plan.operations != 0
                                 ? fmt::format("{} operations a thread", request.plan.operations)
                                 : fmt::format("{} ms", request.plan.duration_ns / 1'000'000);
  base::print(out, "  {} interleaved repetitions of {}, place {}, seed {}\n\n", request.repeat, length,
              request.placement, request.plan.seed);
  std::fflush(out);
}

void print_table(std::FILE* out, const measure::bench_request& request, const measure::bench_result& result) {
  const std::size_t width = name_width(result);
  const bool latency = request.plan.sample_every != 0;
  const bool shares = std::any_of(result.points.begin(), result.points.end(),
                                  [](const point& one) { return !one.fairness.slowest_share.empty(); });
  base::print(out, "{:{}} million {}/s\n", "", 7 + 2 + width + 2 + 12 + 1, request.workload->operation);
  base::print(out, "threads  {:{}}  kind  waits      median        low       high  fairness{}{}{}\n", "lock", width,
              shares ? "  " : "", shares ? observe::fairness_head : "",
              latency ? "    p50 ns    p99 ns   p99.9 ns" : "");
  unsigned threads = 0;
  for (const point& one : result.points) {
    if (threads != 0 && threads != one.threads) std::fputc('\n', out);
    threads = one.threads;
    print_row(out, one, width, latency);
  }
  std::fputs("\nfairness: operations of the thread with the fewest to that with the most\n", out);
  if (shares) std::fputs(observe::fairness_legend, out);
  if (latency) std::fputs("p50, p99, p99.9 ns: of an operation, from before lock() to after unlock()\n", out);
}

void print_sites(std::FILE* out, const measure::bench_result& result) {
  const std::size_t width = name_width(result);
  const auto lead = [width](const auto& threads, std::string_view lock) {
    return fmt::format("{:>7}  {:{}}", threads, lock, width);
  };
  std::vector<site_row> rows;
  for (const point& one : result.points) {
    for (const observe::site_record& site : one.sites) {
      rows.push_back({lead(one.threads, one.subject), &site});
    }
  }
  std::fputc('\n', out);
  print_site_table(out, lead("threads", "lock"), rows, rows.size());
  std::fputs("\nsites: locks of txsync only; all repetitions and their run-in; acquisitions and hold are sampled\n",
             out);
}

int report_faults(const char* verb, const measure::bench_result& result) {
  int status = ok;
  unsigned unpinned = 0;
  for (const observe::point& one : result.points) {
    unpinned = std::max(unpinned, one.unpinned);
    for (const std::string& fault : one.faults) {
      base::print(stderr, "txsync {}: {} on {} at {} threads failed: {}\n", verb, one.workload, one.subject,
                  one.threads, fault);
      status = failed;
    }
  }
  if (unpinned != 0) base::print(stderr, "txsync {}: the system refused to pin up to {} threads\n", verb, unpinned);
  if (result.interrupted) {
    base::print(stderr, "txsync {}: interrupted after {} of {} runs\n", verb, result.runs, result.planned);
    status = failed;
  }
  return status;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
