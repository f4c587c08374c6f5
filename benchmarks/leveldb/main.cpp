// SPDX-License-Identifier: Apache-2.0
// bench_leveldb (./dev bench leveldb): LevelDB with txsync's mutex and condition variable, and with elided ones, beside
// unchanged LevelDB. Each run is a process of its own with a fresh store; the variants run by turns. Claim C1-4, the
// native half. integrations/leveldb.sh builds the three; driver.cpp says what a run does and checks.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "command.hpp"
#include "doctor/machine_object.hpp"
#include "experiments/driver_output.hpp"
#include "launch/child.hpp"
#include "observe/document/output.hpp"
#include "observe/statistics.hpp"
#include "workloads/generators/ycsb.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using experiments::driver_output;
using experiments::fills;

constexpr double goal_fillrandom = 1.2;  // at 2 threads
constexpr double goal_fillseq = 1.1;     // at 2 threads
constexpr double lowest_ratio = 0.95;    // at 1, 4 and 8

struct options {
  std::vector<std::string> workloads = {"fillseq", "fillrandom"};
  std::vector<unsigned> threads = {1, 2, 4, 8};
  std::vector<std::string> locks = {"plain", "elided"};
  unsigned rounds = 12;
  std::uint64_t count = 100'000;
  std::uint64_t records = 100'000;
  std::uint64_t seed = 1;
  std::string programs = TXSYNC_LEVELDB_PROGRAMS;
  std::string directory = "/dev/shm";
  std::string json;
};

struct kind {
  const char* locks;  ///< in options, and in tables
  const char* program;
  const char* subject;
  observe::subject_kind who;
};
constexpr kind stock = {"as it is", "leveldb-stock", "leveldb, std::mutex", observe::subject_kind::peer};
constexpr kind with_our_locks[] = {
    {"plain", "leveldb-txsync", "leveldb, txsync::mutex", observe::subject_kind::ours},
    {"elided", "leveldb-txsync-elided", "leveldb, elided<futex_mutex>", observe::subject_kind::ours},
};

/// LevelDB as it is first.
std::vector<kind> kinds_of(const options& asked) {
  std::vector<kind> kinds = {stock};
  for (const kind& one : with_our_locks) {
    if (std::ranges::find(asked.locks, one.locks) != asked.locks.end()) kinds.push_back(one);
  }
  return kinds;
}

/// The runs of one of the kinds, by round.
struct series {
  kind of;
  std::vector<driver_output> runs = {};
};

/// One workload at one number of threads.
struct cell {
  std::string workload;
  unsigned threads;
  std::vector<series> all;

  const series& as_it_is() const { return all.front(); }
  std::span<const series> ours() const { return std::span(all).subspan(1); }
};

// ---- one run

std::string output_of(const options& asked, const cell& here, const kind& one, std::uint64_t seed) {
  namespace fs = std::filesystem;
  const fs::path store = fs::path(asked.directory) / ("txsync-leveldb-" + std::to_string(getpid()));
  fs::remove_all(store);
  launch::child_request request;
  request.path = asked.programs + "/" + one.program;
  if (!fs::exists(request.path)) throw std::runtime_error("no " + request.path + ": integrations/leveldb.sh builds it");
  request.arguments = {one.program,
                       store.string(),
                       here.workload,
                       std::to_string(here.threads),
                       std::to_string(asked.count),
                       std::to_string(seed),
                       std::to_string(asked.records)};
  request.limit_seconds = 600;
  request.capture = true;
  request.capture_bytes = 1U << 16U;
  const launch::child_end end = launch::run_child(request);
  fs::remove_all(store);
  if (end.interrupted != 0) throw std::runtime_error("interrupted");
  if (end.wait_status != 0) throw std::runtime_error(here.workload + " failed in " + one.program + ": " + end.output);
  return end.output;
}

/// By turns: each round runs all kinds in each cell, one after the other, and the next begins with the next one.
void measure(const options& asked, std::vector<cell>& cells) {
  for (unsigned round = 0; round < asked.rounds; ++round) {
    std::fprintf(stderr, "round %u of %u\n", round + 1, asked.rounds);
    for (cell& here : cells) {
      for (std::size_t i = 0; i < here.all.size(); ++i) {
        series& next = here.all[(i + round) % here.all.size()];
        next.runs.push_back(experiments::parse_driver_output(output_of(asked, here, next.of, asked.seed + round)));
      }
    }
  }
}

// ---- what came out

std::vector<double> throughput_of(const std::vector<driver_output>& runs) {
  observe::point made;
  experiments::add_runs(made, runs);
  return made.values;
}

observe::interval ratio_of(const cell& here, const series& ours) {
  return observe::ratio_interval(throughput_of(ours.runs), throughput_of(here.as_it_is().runs));
}

observe::point point_of(const options& asked, const cell& here, const series& one) {
  observe::point made;
  made.workload = here.workload;
  made.params = {{"count", asked.count}, {"store", asked.directory}};
  if (!fills(here.workload)) made.params["records"] = asked.records;
  made.threads = here.threads;
  made.placement = "none";
  made.subject = one.of.subject;
  made.kind = one.of.who;
  experiments::add_runs(made, one.runs);
  return made;
}

std::optional<double> goal_of(const cell& here) {
  if (!fills(here.workload)) return {};
  if (here.threads == 2) return here.workload == "fillseq" ? goal_fillseq : goal_fillrandom;
  return lowest_ratio;
}

/// Of one of the kinds with our locks; the points are its and that of LevelDB as it is.
observe::claim claim_of(const cell& here, const series& ours, double goal, std::vector<std::size_t> points) {
  return observe::judged({.id = "C1-4",
                          .words = "LevelDB " + here.workload + ", " + std::to_string(here.threads) +
                                   (here.threads == 1 ? " thread" : " threads") + ", " + ours.of.locks +
                                   " locks, ratio to LevelDB as it is",
                          .from = std::move(points)},
                         ratio_of(here, ours), goal);
}

void print_series(const cell& here, const series& one, std::FILE* out) {
  const observe::summary all = observe::summarize(throughput_of(one.runs));
  std::fprintf(out, "%-21s %7u %-10s %8.1f (%.1f to %.1f)", here.workload.c_str(), here.threads, one.of.locks,
               all.median / 1000, all.low / 1000, all.high / 1000);
  if (&one != &here.as_it_is()) {
    const observe::interval ratio = ratio_of(here, one);
    std::fprintf(out, " %8.3f (%.3f to %.3f)", ratio.median, ratio.low95, ratio.high95);
    if (const std::optional<double> goal = goal_of(here))
      std::fprintf(out, ", goal %g: %s", *goal, observe::verdict_text(claim_of(here, one, *goal, {})));
  }
  std::fputc('\n', out);
  for (const driver_output& run : one.runs) {
    if (run.wrong != 0) std::fprintf(out, "  WRONG: %llu values\n", static_cast<unsigned long long>(run.wrong));
  }
}

void print(const std::vector<cell>& cells, std::FILE* out) {
  std::fprintf(out, "%-21s %7s %-10s %s\n", "thousand operations/s", "threads", "locks",
               "median (range), ratio to LevelDB as it is (95 %)");
  for (const cell& here : cells) {
    for (const series& one : here.all) print_series(here, one, out);
  }
}

/// The LevelDB paper's Fig 6: medians of the rounds' percentiles.
void print_latencies(const cell& here, std::FILE* out) {
  std::fprintf(out, "\n%s, %u threads: microseconds an operation takes\n%-28s", here.workload.c_str(), here.threads,
               "");
  for (const auto& [name, part] : observe::written_percentiles) std::fprintf(out, " %9s", name);
  std::fputc('\n', out);
  for (const series& one : here.all) {
    observe::point point;
    experiments::add_runs(point, one.runs);
    for (const auto& [operation, seen] : point.latency) {
      std::fprintf(out, "%-17s %-10s", operation.c_str(), one.of.locks);
      for (const auto& [name, ns] : seen.values) std::fprintf(out, " %9.1f", ns / 1000);
      std::fputc('\n', out);
    }
  }
}

/// The LevelDB paper's Fig 5: operations completed with our locks minus those by unchanged LevelDB. They are taken at
/// ten moments until the first of a round's two runs ended.
void print_differences(const cell& here, const series& with_ours, std::FILE* out) {
  constexpr unsigned moments = 10;
  std::fprintf(out, "%s, %u threads, %s: operations ahead of LevelDB as it is, by tenths of the run: median (range)\n",
               here.workload.c_str(), here.threads, with_ours.of.locks);
  for (unsigned moment = 1; moment <= moments; ++moment) {
    std::vector<double> ahead;
    double at = 0;
    for (std::size_t round = 0; round < with_ours.runs.size(); ++round) {
      const driver_output& ours = with_ours.runs[round];
      const driver_output& theirs = here.as_it_is().runs[round];
      const double seconds = std::min(ours.elapsed_ns, theirs.elapsed_ns) * 1e-9 * moment / moments;
      ahead.push_back(experiments::ended_until(ours, seconds) - experiments::ended_until(theirs, seconds));
      at += seconds / static_cast<double>(with_ours.runs.size());
    }
    const observe::summary all = observe::summarize(ahead);
    std::fprintf(out, "%9.3f s %12.0f (%.0f to %.0f)\n", at, all.median, all.low, all.high);
  }
}

int bench(const options& asked, const std::vector<std::string>& command) {
  std::optional<observe::output> output;
  if (!asked.json.empty()) output.emplace(asked.json);
  observe::document result;
  result.command = command;
  result.started = observe::utc_now();
  result.seed = asked.seed;
  std::vector<cell> cells;
  for (const std::string& workload : asked.workloads) {
    for (const unsigned threads : asked.threads) {
      cells.push_back({workload, threads, {}});
      for (const kind& one : kinds_of(asked)) cells.back().all.push_back({one});
    }
  }
  measure(asked, cells);
  bool right = true;
  for (const cell& here : cells) {
    const std::size_t first = result.points.size();
    for (const series& one : here.all) {
      const std::optional<double> goal = goal_of(here);
      if (goal && &one != &here.as_it_is())
        result.claims.push_back(claim_of(here, one, *goal, {result.points.size(), first}));
      result.points.push_back(point_of(asked, here, one));
      right = right && result.points.back().faults.empty();
    }
  }
  std::FILE* const out = asked.json == "-" ? stderr : stdout;
  print(cells, out);
  for (const cell& here : cells) {
    if (fills(here.workload)) continue;
    print_latencies(here, out);
    for (const series& one : here.ours()) print_differences(here, one, out);
  }
  if (output) {
    result.machine = doctor::machine_object(doctor::collect());
    output->write(result);
  }
  return right ? 0 : 1;
}

std::vector<std::string> lock_names() {
  std::vector<std::string> names;
  for (const kind& one : with_our_locks) names.emplace_back(one.locks);
  return names;
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names = {"fillseq", "fillrandom"};
  for (const workloads::ycsb::mix& one : workloads::ycsb::mixes) names.emplace_back(one.name);
  return names;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app(
      "LevelDB with txsync's mutex and condition variable, and with elided ones, beside LevelDB as it is "
      "(integrations/leveldb.sh).");
  options asked;
  app.add_option("--workloads", asked.workloads, "which, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(workload_names()))
      ->capture_default_str();
  app.add_option("--threads", asked.threads, "how many, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(1U, workloads::ycsb::record_count::max_threads))
      ->capture_default_str();
  app.add_option("--locks", asked.locks, "txsync's that LevelDB runs with, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(lock_names()))
      ->capture_default_str();
  app.add_option("--rounds", asked.rounds, "of all cells")->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--count", asked.count, "operations of each thread")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000'000));
  app.add_option("--records", asked.records, "in the store before a YCSB workload")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000'000));
  app.add_option("--seed", asked.seed, "of the first round; each has the next one")->capture_default_str();
  app.add_option("--programs", asked.programs, "where integrations/leveldb.sh has built them")->capture_default_str();
  app.add_option("--store", asked.directory, "the folder that the stores are made in")
      ->capture_default_str()
      ->check(CLI::ExistingDirectory);
  app.add_option("--json", asked.json, "write a result document to this file; - is the standard output");
  return run_command(app, "bench_leveldb", count, words,
                     [&](const std::vector<std::string>& command) { return bench(asked, command); });
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

int main(int count, char** words) { return txsync::benchmarks::main(count, words); }
