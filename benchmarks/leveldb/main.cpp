// SPDX-License-Identifier: Apache-2.0
// bench_leveldb (./dev bench leveldb): LevelDB with txsync's mutex and condition variable beside LevelDB as it is, each
// run a process of its own with a fresh store, by turns. Claim C1-4, the native half. integrations/leveldb.sh builds
// the two; driver.cpp says what a run does and checks.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "command.hpp"
#include "doctor/machine_object.hpp"
#include "launch/child.hpp"
#include "observe/document/output.hpp"
#include "observe/statistics.hpp"
#include "workloads/ycsb.hpp"

namespace txsync::inline TXSYNC_BACKEND::benchmarks {

namespace {

constexpr double goal_fillrandom = 1.2;  // at 2 threads
constexpr double goal_fillseq = 1.1;     // at 2 threads
constexpr double lowest_ratio = 0.95;    // at 1, 4 and 8

struct options {
  std::vector<std::string> workloads = {"fillseq", "fillrandom"};
  std::vector<unsigned> threads = {1, 2, 4, 8};
  unsigned rounds = 12;
  std::uint64_t count = 100'000;
  std::uint64_t records = 100'000;
  std::uint64_t seed = 1;
  std::string programs = TXSYNC_LEVELDB_PROGRAMS;
  std::string directory = "/dev/shm";
  std::string json;
};

struct kind {
  const char* program;
  const char* subject;
  observe::subject_kind who;
};
constexpr std::array<kind, 2> kinds = {{{"leveldb-txsync", "leveldb, txsync::mutex", observe::subject_kind::ours},
                                        {"leveldb-stock", "leveldb, std::mutex", observe::subject_kind::peer}}};

/// One subject in a cell: what its runs gave, by round.
struct series {
  std::vector<double> throughput;
  std::vector<std::string> faults;
  struct latency {
    std::uint64_t samples = 0;
    std::array<std::vector<double>, std::size(observe::written_percentiles)> ns = {};
  };
  std::map<std::string, latency> latencies = {};  // by operation
};

/// One workload at one number of threads.
struct cell {
  std::string workload;
  unsigned threads;
  std::array<series, kinds.size()> of = {};
};

bool fills(const std::string& workload) { return workload.starts_with("fill"); }

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

/// Adds one run's throughput and latencies.
void run(const options& asked, const cell& here, const kind& one, std::uint64_t seed, series& into) {
  std::istringstream said(output_of(asked, here, one, seed));
  double operations = 0;
  double elapsed_ns = 0;
  std::uint64_t wrong = 1;
  for (std::string name; said >> name;) {
    if (name == "operations") said >> operations;
    if (name == "elapsed_ns") said >> elapsed_ns;
    if (name == "wrong") said >> wrong;
    if (name != "latency") continue;
    std::string operation;
    std::uint64_t samples = 0;
    said >> operation >> samples;
    series::latency& seen = into.latencies[operation];
    seen.samples += samples;
    for (std::vector<double>& values : seen.ns) said >> values.emplace_back();
  }
  if (!said.eof() || elapsed_ns == 0) throw std::runtime_error(std::string(one.program) + " gave no result");
  if (wrong != 0) {
    into.faults.push_back(std::to_string(wrong) + " values were wrong");
    into.throughput.push_back(0);
  } else {
    into.throughput.push_back(operations / elapsed_ns * 1e9);
  }
}

/// By turns: each round runs both kinds in each cell, one after the other, and the other way round in the next.
void measure(const options& asked, std::vector<cell>& cells) {
  for (unsigned round = 0; round < asked.rounds; ++round) {
    std::fprintf(stderr, "round %u of %u\n", round + 1, asked.rounds);
    for (cell& here : cells) {
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        const std::size_t which = (i + round) % kinds.size();
        run(asked, here, kinds[which], asked.seed + round, here.of[which]);
      }
    }
  }
}

// ---- what came out

observe::interval ratio_of(const cell& here) {
  return observe::ratio_interval(here.of[0].throughput, here.of[1].throughput);
}

observe::point point_of(const options& asked, const cell& here, std::size_t which) {
  observe::point made;
  made.workload = here.workload;
  made.params = {{"count", asked.count}, {"store", asked.directory}};
  if (!fills(here.workload)) made.params["records"] = asked.records;
  made.threads = here.threads;
  made.place = "none";
  made.subject = kinds[which].subject;
  made.kind = kinds[which].who;
  made.metric = "throughput";
  made.unit = "operations/s";
  made.values = here.of[which].throughput;
  made.faults = here.of[which].faults;
  for (const auto& [operation, seen] : here.of[which].latencies) {
    observe::percentile_record record;
    record.samples = seen.samples;
    for (std::size_t i = 0; i < seen.ns.size(); ++i) {
      record.values.emplace_back(observe::written_percentiles[i].first, observe::summarize(seen.ns[i]).median);
    }
    made.latency.emplace_back(operation, std::move(record));
  }
  return made;
}

std::optional<double> goal_of(const cell& here) {
  if (!fills(here.workload)) return {};
  if (here.threads == 2) return here.workload == "fillseq" ? goal_fillseq : goal_fillrandom;
  return lowest_ratio;
}

observe::claim claim_of(const cell& here, double goal, std::size_t first_point) {
  const observe::interval ratio = ratio_of(here);
  return {.id = "C1-4",
          .words = "LevelDB " + here.workload + ", " + std::to_string(here.threads) +
                   (here.threads == 1 ? " thread" : " threads") + ", ratio to LevelDB as it is",
          .value = ratio.median,
          .goal = goal,
          .holds = !observe::misses(ratio, goal),
          .from = {first_point, first_point + 1},
          .value_interval = ratio,
          .rule = "high95 >= goal"};
}

void print(const std::vector<cell>& cells, std::FILE* out) {
  std::fprintf(out, "%-14s %7s %32s %32s %s\n", "thousand operations/s", "threads", "txsync: median (range)",
               "as it is: median (range)", "ratio (95 %)");
  for (const cell& here : cells) {
    std::fprintf(out, "%-21s %7u", here.workload.c_str(), here.threads);
    for (const series& one : here.of) {
      const observe::summary all = observe::summarize(one.throughput);
      std::fprintf(out, " %14.1f (%.1f to %.1f)", all.median / 1000, all.low / 1000, all.high / 1000);
    }
    const observe::interval ratio = ratio_of(here);
    std::fprintf(out, " %8.3f (%.3f to %.3f)", ratio.median, ratio.low95, ratio.high95);
    if (const std::optional<double> goal = goal_of(here))
      std::fprintf(out, ", goal %g: %s", *goal, claim_of(here, *goal, 0).holds ? "holds" : "MISSED");
    std::fputc('\n', out);
    for (const series& one : here.of) {
      for (const std::string& fault : one.faults) std::fprintf(out, "  WRONG: %s\n", fault.c_str());
    }
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
    for (const unsigned threads : asked.threads) cells.push_back({workload, threads});
  }
  measure(asked, cells);
  bool right = true;
  for (const cell& here : cells) {
    if (const std::optional<double> goal = goal_of(here))
      result.claims.push_back(claim_of(here, *goal, result.points.size()));
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      result.points.push_back(point_of(asked, here, i));
      right = right && here.of[i].faults.empty();
    }
  }
  print(cells, asked.json == "-" ? stderr : stdout);
  if (output) {
    result.machine = doctor::machine_object(doctor::collect());
    output->write(result);
  }
  return right ? 0 : 1;
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names = {"fillseq", "fillrandom"};
  for (const workloads::ycsb::mix& one : workloads::ycsb::mixes) names.emplace_back(one.name);
  return names;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app(
      "LevelDB with txsync's mutex and condition variable, beside LevelDB as it is (integrations/leveldb.sh).");
  options asked;
  app.add_option("--workloads", asked.workloads, "which, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(workload_names()))
      ->capture_default_str();
  app.add_option("--threads", asked.threads, "how many, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(1U, workloads::ycsb::record_count::most_threads))
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

}  // namespace txsync::inline TXSYNC_BACKEND::benchmarks

int main(int count, char** words) { return txsync::benchmarks::main(count, words); }
