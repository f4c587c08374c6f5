// SPDX-License-Identifier: Apache-2.0
// bench_leveldb_simulated (./dev bench leveldb_simulated): LevelDB on a simulated machine, with the locks of the
// LevelDB paper, ours, and its own. The paper's numbers stand beside, and where attempts ended. Claim C1-4, the
// simulated half, and Figs 3 to 6 and 8. integrations/leveldb-simulated.sh --build builds the programs, driver.cpp says
// what a run does and checks. One seed is one run: the same on every machine.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>

#include "cli/sim.hpp"
#include "command.hpp"
#include "experiments/evaluate.hpp"
#include "experiments/programs.hpp"
#include "leveldb/driver_output.hpp"
#include "observe/document/output.hpp"
#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"
#include "workloads/ycsb.hpp"

namespace txsync::inline TXSYNC_BACKEND::benchmarks {

namespace {

struct options {
  std::vector<std::string> workloads = {"fillseq", "fillrandom"};
  std::vector<unsigned> threads = {1, 2, 4, 8};
  std::vector<std::string> locks;
  unsigned seeds = 3;
  std::uint64_t count = 2'000;
  std::uint64_t records = 2'000;
  std::uint64_t seed = 1;
  std::string machine = "haswell-i7-4770";
  std::string programs = TXSYNC_LEVELDB_PROGRAMS;
  std::string directory = "/dev/shm";
  std::string json;
};

/// The pairs of integrations/leveldb/locks.hpp.
struct kind {
  const char* name;
  const char* words;
  observe::subject_kind who;
};
constexpr const char* baseline = "sleeping";
constexpr const char* papers = "xsync";
constexpr const char* ours = "elided";
constexpr kind kinds[] = {
    {baseline, "LevelDB as it is: a mutex and a condition that sleep at once, as glibc's", observe::subject_kind::peer},
    {"spinning", "a spin lock instead of the mutex, nothing elided", observe::subject_kind::peer},
    {papers, "the paper's: adaptive retries, coarsening, deferred notifications", observe::subject_kind::ours},
    {"xsync_mutex", "the same over the mutex that sleeps", observe::subject_kind::ours},
    {"xsync_uncoarsened", "the paper's without coarsening", observe::subject_kind::ours},
    {"plain", "txsync's mutex and condition variable, nothing elided", observe::subject_kind::ours},
    {ours, "txsync's, elided by the standard policy", observe::subject_kind::ours},
    {"eager", "txsync's, every section tried as an attempt", observe::subject_kind::ours},
};

const kind& kind_of(const std::string& name) {
  return *std::find_if(std::begin(kinds), std::end(kinds), [&](const kind& one) { return name == one.name; });
}

/// What one seed gave.
struct seeded_run {
  driver_output said;
  sim::image_result seen;
};

/// One workload by one number of threads: the runs of each kind, and its point in the document.
struct cell {
  std::string workload;
  unsigned threads;
  std::map<std::string, std::vector<driver_output>> of = {};
  std::map<std::string, std::size_t> points = {};

  std::vector<double> throughput(const std::string& lock) const {
    observe::point made;
    add_runs(made, of.at(lock));
    return made.values;
  }
  /// Medians of seeds, over the baseline of the same seeds.
  observe::summary ratio(const std::string& lock) const {
    return observe::summarize(observe::ratios(throughput(lock), throughput(baseline)));
  }
};

// ---- runs

std::string whole_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder whose name is as long as any other run's: the program sees its length.
class run_folder {
 public:
  explicit run_folder(const std::string& parent) : path_(parent + "/txsync-leveldb.XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make a folder in " + parent);
  }
  ~run_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  run_folder(const run_folder&) = delete;
  run_folder& operator=(const run_folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string program_of(const options& asked, const std::string& lock) { return asked.programs + "/leveldb-" + lock; }

seeded_run run(const options& asked, const sim::machine& machine, const cell& here, const std::string& lock,
               std::uint64_t seed) {
  const run_folder folder(asked.directory);
  const std::string result = folder.path() + "/result";
  const sim::image_request request{
      .path = program_of(asked, lock),
      .arguments = {folder.path() + "/store", here.workload, std::to_string(here.threads), std::to_string(asked.count),
                    std::to_string(seed), std::to_string(asked.records), result},
      .model = machine.model,
      .seed = seed};
  sim::image_result seen = sim::run_image(request);
  if (seen.status != 0) throw std::runtime_error(here.workload + " failed with " + lock + ": " + seen.messages);
  return {parse_driver_output(whole_file(result)), std::move(seen)};
}

std::string subject_of(const std::string& lock) { return "leveldb, " + lock; }

observe::point new_point(const options& asked, const cell& here, const std::string& lock) {
  observe::point made;
  made.workload = here.workload;
  made.params = {{"machine", asked.machine}, {"count", asked.count}};
  if (!fills(here.workload)) made.params["records"] = asked.records;
  made.threads = here.threads;
  made.place = "none";
  made.subject = subject_of(lock);
  made.kind = kind_of(lock).who;
  return made;
}

/// All seeds of one kind in one cell; attempts are the whole program's, cycles those of the threads that were measured.
observe::point measure_point(const options& asked, const sim::machine& machine, cell& here, const std::string& lock) {
  observe::point point = new_point(asked, here, lock);
  std::vector<driver_output>& runs = here.of[lock];
  std::uint64_t hash = 0;
  for (unsigned i = 0; i < asked.seeds; ++i) {
    seeded_run one = run(asked, machine, here, lock, asked.seed + i);
    const double cycles = one.said.elapsed_ns * machine.model.core_mhz / 1e3;
    cli::add_attempts(point, one.seen, static_cast<std::uint64_t>(cycles));
    if (i == 0) point.abort_places = cli::abort_places(launch::module_symbols(program_of(asked, lock)), one.seen);
    hash = workloads::mix(hash) + one.seen.number("end_hash");
    runs.push_back(std::move(one.said));
  }
  add_runs(point, runs);
  point.unit += ", simulated";
  char text[32];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  point.end_hash = text;
  return point;
}

std::vector<cell> measure(const options& asked, const sim::machine& machine, observe::document& result) {
  std::vector<cell> cells;
  for (const std::string& workload : asked.workloads) {
    for (const unsigned threads : asked.threads) {
      std::fprintf(stderr, "%s, %u threads\n", workload.c_str(), threads);
      cell& here = cells.emplace_back(cell{workload, threads});
      for (const std::string& lock : asked.locks) {
        here.points[lock] = result.points.size();
        result.points.push_back(measure_point(asked, machine, here, lock));
      }
    }
  }
  return cells;
}

// ---- the paper's numbers

std::string as_ratio(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

/// How our number compares with the paper's. A gain in percent is hit within 5 points, as in experiments. A lock of our
/// own need not be near the paper's number, but has to be as good.
struct verdict {
  bool hit;
  std::string rule;
};
verdict judge(double value, const experiments::range& wanted, bool is_papers) {
  const bool one_value = wanted.low == wanted.high;
  if (one_value && is_papers) return {std::abs(value - wanted.low) <= 0.05, "within 5 percentage points of the goal"};
  if (one_value) return {value >= wanted.low, "value >= goal"};
  return {value >= wanted.low && value <= wanted.high, std::isfinite(wanted.low) ? "value >= goal" : "value <= goal"};
}

observe::point papers_point(const cell& here, double value) {
  observe::point made;
  made.workload = here.workload;
  made.threads = here.threads;
  made.place = "none";
  made.subject = "leveldb, XSync over LevelDB as it is";
  made.kind = observe::subject_kind::paper;
  made.metric = "throughput over that of LevelDB as it is";
  made.unit = "ratio";
  made.values = {value};
  return made;
}

/// A number, as a point beside ours and as a claim for each lock that is compared with it.
void compare(const cell& here, const experiments::program_fact& fact, observe::document& result, std::FILE* out) {
  const experiments::range& wanted = fact.expected;
  const double goal = std::isfinite(wanted.low) ? wanted.low : wanted.high;
  const std::string expected = wanted.low == wanted.high ? as_ratio(goal) : experiments::expected_words(wanted);
  const std::size_t index = result.points.size();
  if (wanted.low == wanted.high) result.points.push_back(papers_point(here, goal));
  for (const char* const lock : {papers, ours}) {
    if (here.of.count(lock) == 0) continue;
    const double value = here.ratio(lock).median;
    const verdict how = judge(value, wanted, lock == papers);
    std::vector<std::size_t> from{here.points.at(lock), here.points.at(baseline)};
    if (wanted.low == wanted.high) from.push_back(index);
    std::fprintf(out, "  %-9s %6.3f   paper %s (%s), %s: %s\n", lock, value, expected.c_str(), fact.source,
                 how.rule.c_str(), how.hit ? "hit" : "MISS");
    result.claims.push_back({.id = "C1-4",
                             .words = "LevelDB " + here.workload + ", " + std::to_string(here.threads) + " threads, " +
                                      lock + " over LevelDB as it is, simulated; the paper has " + expected + " (" +
                                      fact.source + ")",
                             .value = value,
                             .goal = goal,
                             .outcome = observe::judge(how.hit),
                             .from = std::move(from),
                             .rule = how.rule});
  }
}

// ---- tables

void print_cell(const options& asked, const cell& here, std::FILE* out) {
  for (const std::string& lock : asked.locks) {
    const observe::summary all = observe::summarize(here.throughput(lock));
    const observe::summary ratio = here.ratio(lock);
    std::fprintf(out, "%-14s %7u  %-18s %10.1f (%.1f to %.1f)   %6.3f (%.3f to %.3f)\n", here.workload.c_str(),
                 here.threads, lock.c_str(), all.median / 1000, all.low / 1000, all.high / 1000, ratio.median,
                 ratio.low, ratio.high);
  }
}

void print_latencies(const observe::point& one, std::FILE* out) {
  for (const auto& [operation, seen] : one.latency) {
    std::fprintf(out, "%-14s %7u  %-28s %-18s", one.workload.c_str(), one.threads, one.subject.c_str(),
                 operation.c_str());
    for (const auto& [name, ns] : seen.values) std::fprintf(out, " %8.1f", ns / 1000);
    std::fputc('\n', out);
  }
}

/// The paper's Fig 5, at ten moments until the first of two runs ended; medians of the seeds.
void print_differences(const cell& here, const std::string& lock, std::FILE* out) {
  constexpr unsigned moments = 10;
  std::fprintf(out, "%-14s %7u  %-18s", here.workload.c_str(), here.threads, lock.c_str());
  for (unsigned moment = 1; moment <= moments; ++moment) {
    std::vector<double> ahead;
    for (std::size_t i = 0; i < here.of.at(lock).size(); ++i) {
      const driver_output& one = here.of.at(lock)[i];
      const driver_output& base = here.of.at(baseline)[i];
      const double seconds = std::min(one.elapsed_ns, base.elapsed_ns) * 1e-9 * moment / moments;
      ahead.push_back(ended_until(one, seconds) - ended_until(base, seconds));
    }
    std::fprintf(out, " %7.0f", observe::summarize(ahead).median);
  }
  std::fputc('\n', out);
}

void print_served(const options& asked, const std::vector<cell>& cells, const observe::document& result,
                  std::FILE* out) {
  std::fprintf(out, "\nMicroseconds of an operation, simulated%36s", "");
  for (const auto& [name, part] : observe::written_percentiles) std::fprintf(out, " %8s", name);
  std::fputc('\n', out);
  for (const observe::point& one : result.points) print_latencies(one, out);
  std::fprintf(out, "\nOperations ahead of %s, by tenths of the shorter run\n", baseline);
  for (const cell& here : cells) {
    if (fills(here.workload)) continue;
    for (const std::string& lock : asked.locks) {
      if (lock != baseline) print_differences(here, lock, out);
    }
  }
}

void print_attempts(const options& asked, const observe::document& result, std::FILE* out) {
  for (const std::string& workload : asked.workloads) {
    cli::bench_result of_one;
    for (const observe::point& one : result.points) {
      if (one.workload == workload && one.kind != observe::subject_kind::paper) of_one.points.push_back(one);
    }
    std::fprintf(out, "\n==== %s\n", workload.c_str());
    cli::print_attempts(out, of_one);
    std::erase_if(of_one.points, [](const observe::point& one) {
      return one.subject != subject_of(papers) && one.subject != subject_of(ours);
    });
    cli::print_abort_places(out, of_one);
  }
}

void print(const options& asked, const std::vector<cell>& cells, observe::document& result, std::FILE* out) {
  std::fprintf(out, "LevelDB 1.23 on %s, simulated: %llu operations a thread, %u seeds\n", asked.machine.c_str(),
               static_cast<unsigned long long>(asked.count), asked.seeds);
  for (const std::string& lock : asked.locks) std::fprintf(out, "  %-18s %s\n", lock.c_str(), kind_of(lock).words);
  std::fprintf(out, "\n%-14s %7s  %-18s %s\n", "workload", "threads", "lock",
               "thousand operations/s: median (range), and over LevelDB as it is");
  for (const cell& here : cells) {
    print_cell(asked, here, out);
    for (const experiments::program_fact& fact : experiments::leveldb_facts) {
      if (here.workload == fact.workload && here.threads == fact.threads) compare(here, fact, result, out);
    }
  }
  const auto serves = [](const cell& one) { return !fills(one.workload); };
  if (std::any_of(cells.begin(), cells.end(), serves)) print_served(asked, cells, result, out);
  print_attempts(asked, result, out);
}

int bench(options asked, const std::vector<std::string>& command) {
  if (asked.locks.empty()) {
    for (const kind& one : kinds) asked.locks.emplace_back(one.name);
  }
  if (asked.locks.front() != baseline) asked.locks.insert(asked.locks.begin(), baseline);
  for (const std::string& lock : asked.locks) {
    const std::string program = program_of(asked, lock);
    if (!std::filesystem::exists(program))
      throw std::runtime_error("no " + program + ": integrations/leveldb-simulated.sh --build makes it");
  }
  std::optional<observe::output> output;
  if (!asked.json.empty()) output.emplace(asked.json);
  const sim::machine machine = sim::load_machine(asked.machine);
  observe::document result;
  result.command = command;
  result.seed = asked.seed;
  result.machine = cli::machine_object(machine);
  const std::vector<cell> cells = measure(asked, machine, result);
  print(asked, cells, result, asked.json == "-" ? stderr : stdout);
  bool right = true;
  for (const observe::point& one : result.points) {
    for (const std::string& fault : one.faults)
      std::fprintf(stderr, "%s, %u threads, %s: %s\n", one.workload.c_str(), one.threads, one.subject.c_str(),
                   fault.c_str());
    right = right && one.faults.empty();
  }
  if (output) output->write(result);
  return right ? 0 : 1;
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names = {"fillseq", "fillrandom"};
  for (const workloads::ycsb::mix& one : workloads::ycsb::mixes) names.emplace_back(one.name);
  return names;
}

std::vector<std::string> lock_names() {
  std::vector<std::string> names;
  for (const kind& one : kinds) names.emplace_back(one.name);
  return names;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("LevelDB on a simulated machine, its locks elided and not, beside the LevelDB paper's numbers.");
  options asked;
  app.add_option("--workloads", asked.workloads, "which, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(workload_names()))
      ->capture_default_str();
  app.add_option("--threads", asked.threads, "how many, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(1U, workloads::ycsb::record_count::max_threads))
      ->capture_default_str();
  app.add_option("--locks", asked.locks, "which (all), separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(lock_names()));
  app.add_option("--seeds", asked.seeds, "runs of each")->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--count", asked.count, "operations of each thread")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000'000));
  app.add_option("--records", asked.records, "in the store before a YCSB workload")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000'000));
  app.add_option("--seed", asked.seed, "the first")->capture_default_str();
  app.add_option("--machine", asked.machine, "of txsync list machines, or a file")->capture_default_str();
  app.add_option("--programs", asked.programs, "where they have been built")->capture_default_str();
  app.add_option("--store", asked.directory, "the folder that the stores are made in")
      ->capture_default_str()
      ->check(CLI::ExistingDirectory);
  app.add_option("--json", asked.json, "write a result document to this file; - is the standard output");
  return run_command(app, "bench_leveldb_simulated", count, words,
                     [&](const std::vector<std::string>& command) { return bench(asked, command); });
}

}  // namespace txsync::inline TXSYNC_BACKEND::benchmarks

int main(int count, char** words) { return txsync::benchmarks::main(count, words); }
