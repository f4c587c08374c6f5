// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "locks/waiting.hpp"
#include "observe/statistics.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using observe::summarize;

std::vector<std::uint64_t> operations(const figures& round) {
  std::vector<std::uint64_t> all;
  if (const auto found = round.find("operations"); found != round.end()) {
    for (const double value : found->second) all.push_back(static_cast<std::uint64_t>(value));
  }
  return all;
}

observe::fairness_record fairness_of(const waiting_cell& one) {
  observe::fairness_record made;
  for (const figures& round : one.rounds) {
    const std::vector<std::uint64_t> turns = operations(round);
    if (turns.empty()) continue;
    made.slowest_share.push_back(observe::slowest_share(turns));
    made.busier_half_share.push_back(observe::busier_half_share(turns));
  }
  made.p999_wait_ns = one.all("p999_ns");
  made.max_wait_ns = one.all("max_ns");
  made.wait_cpus = one.all("wait_cpus");
  return made;
}

/// A figure as a point.
struct metric {
  const char* figure;
  const char* name;
  const char* unit;
  observe::better way;
};
constexpr metric metrics[] = {
    {"sections_per_s", "throughput", "sections/s", observe::better::higher},
    {"max_ns", "longest wait", "ns", observe::better::lower},
    {"left_out_max_ns", "longest wait left out", "ns", observe::better::lower},
    {"turns", "turns of others during a wait", "turns", observe::better::lower},
    {"recovery_ms", "recovery", "ms", observe::better::lower},
    {"turn_ns", "time of a turn", "ns", observe::better::lower},
    {"high_turns", "turns of the higher priority", "turns", observe::better::higher},
};

observe::point point_of(const waiting_cell& one, const metric& what) {
  observe::point made;
  made.workload = "waiting";
  made.params["scenario"] = one.scenario;
  if (one.section_us != 0) made.params["section_us"] = one.section_us;
  if (one.cpus != 0) made.params["cpus"] = one.cpus;
  made.threads = one.threads;
  made.placement = "none";
  made.subject = waiting_locks()[one.lock].name;
  made.kind = one.lock == reference_lock() ? observe::subject_kind::peer : observe::subject_kind::ours;
  made.metric = what.name;
  made.unit = what.unit;
  made.way = what.way;
  made.values = one.all(what.figure);
  if (what.figure == metrics[0].figure) made.fairness = fairness_of(one);
  return made;
}

double median_of(const waiting_cell& one, const char* figure) {
  const std::vector<double> values = one.all(figure);
  return values.empty() ? 0 : summarize(values).median;
}

bool has(const waiting_cell& one, const char* figure) { return !one.all(figure).empty(); }

void print_asking(std::FILE* out, const std::vector<waiting_cell>& cells) {
  std::fprintf(
      out,
      "\nWaiting. ask: one thread retakes the lock, the others ask every 200 us; shares are those of the others.\n"
      "loop: all retake it. wave: that many threads join two others for a while. Medians of the rounds; turns of\n"
      "others during one wait: the maximum of all rounds. A wait is left out if a thread that only reads the\n"
      "clock saw a gap that was as long.\n%s\n%-25s %-16s %10s %s %9s %9s %9s %8s\n",
      observe::fairness_legend, "scenario", "lock", "sections/s", observe::fairness_head, "turns", "left out", "max us",
      "back ms");
  std::string last;
  for (const waiting_cell& one : cells) {
    if (!has(one, "sections_per_s")) continue;
    const std::string scenario = describe(one);
    const std::vector<double> turns = one.all("turns"), left_out = one.all("left_out");
    double sum = 0;
    for (const double value : left_out) sum += value;
    std::fprintf(out, "%-25s %-16s %10.0f %s %9.0f %9.0f %9.0f", scenario == last ? "" : scenario.c_str(),
                 waiting_locks()[one.lock].name, median_of(one, "sections_per_s"),
                 observe::fairness_text(fairness_of(one)).c_str(), *std::max_element(turns.begin(), turns.end()), sum,
                 summarize(one.all("left_out_max_ns")).high / 1e3);
    if (has(one, "recovery_ms")) std::fprintf(out, " %8.0f", median_of(one, "recovery_ms"));
    std::fprintf(out, "\n");
    last = scenario;
  }
}

void print_hand_over(std::FILE* out, const std::vector<waiting_cell>& cells) {
  std::fprintf(out,
               "\nHanding over: ns a turn of two threads, by a condition variable signalled before or after the\n"
               "unlock; turns of the thread of higher priority a run. Median and range.\n%-32s %-16s %10s %s\n",
               "scenario", "lock", "median", "range");
  for (const waiting_cell& one : cells) {
    for (const char* const figure : {"turn_ns", "high_turns"}) {
      if (!has(one, figure)) continue;
      const observe::summary all = summarize(one.all(figure));
      std::fprintf(out, "%-32s %-16s %10.0f [%.0f, %.0f]\n", describe(one).c_str(), waiting_locks()[one.lock].name,
                   all.median, all.low, all.high);
    }
    if (one.scenario == "realtime" && !has(one, "high_turns") && one.lock == reference_lock())
      std::fprintf(out, "realtime: SCHED_FIFO is not allowed here, so nothing is claimed\n");
  }
}

}  // namespace

void print_waiting(std::FILE* out, const std::vector<waiting_cell>& cells) {
  if (cells.empty()) return;
  print_asking(out, cells);
  print_hand_over(out, cells);
}

void add_waiting(observe::document& result, const std::vector<waiting_cell>& cells, bool with_claims) {
  std::vector<std::vector<std::size_t>> points_of(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (const metric& what : metrics) {
      if (!has(cells[i], what.figure)) continue;
      points_of[i].push_back(result.points.size());
      result.points.push_back(point_of(cells[i], what));
    }
  }
  if (!with_claims) return;
  for (waiting_claim& made : waiting_claims(cells)) {
    observe::claim& one = made.claim;
    std::vector<std::size_t> points;
    for (const std::size_t cell : one.from) points.insert(points.end(), points_of[cell].begin(), points_of[cell].end());
    one.from = std::move(points);
    result.claims.push_back(std::move(one));
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
