// SPDX-License-Identifier: Apache-2.0
// bench_kyotocabinet_simulated (./dev bench kyotocabinet_simulated): Kyoto Cabinet's tree on a simulated machine, under
// the locks of the always-abort paper's Fig 10. The paper's numbers stand beside, and where attempts ended. Claims
// C2-3. integrations/kyotocabinet-simulated.sh --build builds the program, driver.cpp says what a run does and checks.
// One seed is one run: the same on every machine.
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
#include <sstream>
#include <stdexcept>

#include "command.hpp"
#include "experiments/evaluate.hpp"
#include "experiments/programs.hpp"
#include "observe/document/output.hpp"
#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"
#include "simulate/simulate.hpp"
#include "workloads/harness/random.hpp"

namespace txsync::inline TXSYNC_BACKEND::benchmarks {

namespace {

struct options {
  std::vector<unsigned> threads = {1, 2, 4, 8, 12, 18, 20};
  std::vector<std::string> locks;
  unsigned seeds = 1;
  std::uint64_t operations = 10'000;
  std::uint64_t records = 300'000;
  std::uint64_t seed = 1;
  std::string machine = "broadwell-e5-2697v4";
  std::string program = TXSYNC_KYOTO_PROGRAM;
  std::string json;
};

struct kind {
  const char* name;
  const char* locks;  ///< in words of policy files
  const char* words;
  observe::subject_kind who;
};
constexpr const char* baseline = "default";
constexpr const char* attempted = "htm-10";
constexpr kind kinds[] = {
    {baseline, "", "txsync's reader-writer lock", observe::subject_kind::peer},
    {"tatas", "rwlock=as-mutex lock=tatas", "test and test-and-set", observe::subject_kind::peer},
    {"tatas-aahtm", "rwlock=as-mutex lock=tatas warm_up=paper", "the same, waiters run ahead",
     observe::subject_kind::ours},
    {"tatas-pri-aahtm", "rwlock=as-mutex lock=priority-tatas warm_up=paper-priority",
     "the same, and go first afterwards", observe::subject_kind::ours},
    {"ticket", "rwlock=as-mutex lock=fifo-ticket", "tickets", observe::subject_kind::peer},
    {"ticket-aahtm", "rwlock=as-mutex lock=fifo-ticket warm_up=paper-ticket", "the same, waiters run ahead",
     observe::subject_kind::ours},
    {"ticket-standard", "rwlock=as-mutex lock=ticket warm_up=standard", "txsync's ticket lock and its own policy",
     observe::subject_kind::ours},
    {"htm-1", "rwlock=as-mutex lock=tatas elision=htm-1", "tatas elided, one attempt", observe::subject_kind::ours},
    {attempted, "rwlock=as-mutex lock=tatas elision=htm-10", "tatas elided, ten attempts", observe::subject_kind::ours},
};

const kind& kind_of(const std::string& name) {
  return *std::find_if(std::begin(kinds), std::end(kinds), [&](const kind& one) { return name == one.name; });
}

std::vector<std::string> lock_names() {
  std::vector<std::string> names;
  for (const kind& one : kinds) names.emplace_back(one.name);
  return names;
}

// ---- runs

/// A file whose name is as long as any other run's: the program sees its length.
class result_file {
 public:
  result_file() {
    const int made = mkstemp(path_.data());
    if (made < 0) throw std::runtime_error("cannot make a file for the result");
    close(made);
  }
  ~result_file() { unlink(path_.c_str()); }
  result_file(const result_file&) = delete;
  result_file& operator=(const result_file&) = delete;
  const std::string& path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "txsync-kyoto.XXXXXX").string();
};

/// NAME VALUE lines of the driver.
std::map<std::string, double> parse(const std::string& text) {
  std::map<std::string, double> said;
  std::istringstream lines(text);
  std::string name;
  double value = 0;
  while (lines >> name >> value) said[name] = value;
  for (const char* needed : {"operations", "elapsed_ns", "wrong"}) {
    if (said.count(needed) == 0) throw std::runtime_error("the driver does not say " + std::string(needed));
  }
  return said;
}

struct seeded_run {
  std::map<std::string, double> said;
  sim::image_result seen;
};

seeded_run run(const options& asked, const sim::machine& machine, unsigned threads, const kind& lock,
               std::uint64_t seed) {
  const result_file file;
  const sim::image_request request{.path = asked.program,
                                   .arguments = {std::to_string(threads), std::to_string(asked.operations),
                                                 std::to_string(asked.records), std::to_string(seed), file.path()},
                                   .model = machine.model,
                                   .seed = seed,
                                   .locks = lock.locks};
  sim::image_result seen = sim::run_image(request);
  if (seen.status != 0) throw std::runtime_error(std::string("a run failed with ") + lock.name + ": " + seen.messages);
  return {parse(file.text()), std::move(seen)};
}

using counts = std::vector<std::pair<std::string, std::uint64_t>>;

void subtract(std::uint64_t& from, std::uint64_t what) { from -= std::min(from, what); }
void subtract(counts& from, const counts& what) {
  for (auto& [cause, count] : from) {
    for (const auto& [other, its] : what) {
      if (other == cause) subtract(count, its);
    }
  }
}
/// Of a run that does not do the operations: filling the tree and checking what is left.
void subtract(observe::point& from, const observe::point& idle) {
  if (!from.attempts || !idle.attempts) return;
  subtract(from.attempts->attempts, idle.attempts->attempts);
  subtract(from.attempts->commits, idle.attempts->commits);
  subtract(from.attempts->fallbacks, idle.attempts->fallbacks);
  subtract(from.attempts->aborts, idle.attempts->aborts);
  subtract(from.attempts->signals, idle.attempts->signals);
}

/// Runs of one lock, by all numbers of threads.
class lock_runs {
 public:
  lock_runs(const options& asked, const sim::machine& machine, const kind& lock)
      : asked_(asked), machine_(machine), lock_(lock) {
    options nothing = asked;
    nothing.operations = 0;
    for (unsigned i = 0; i < asked.seeds; ++i) {
      simulate::add_attempts(idle_, run(nothing, machine, 1, lock, asked.seed + i).seen, 0);
    }
  }

  /// All seeds. Attempts are those of the operations, the places where they ended the whole program's.
  observe::point measure(unsigned threads) const {
    observe::point made = new_point(threads);
    std::uint64_t hash = 0;
    for (unsigned i = 0; i < asked_.seeds; ++i) {
      auto [said, seen] = run(asked_, machine_, threads, lock_, asked_.seed + i);
      made.values.push_back(said["operations"] / said["elapsed_ns"] * 1e9);
      if (said["wrong"] != 0) made.faults.push_back(std::to_string(said["wrong"]) + " wrong values");
      simulate::add_attempts(made, seen, 0);
      if (i == 0) made.abort_places = simulate::abort_places(symbols::module_symbols(asked_.program), seen);
      hash = workloads::mix(hash) + seen.number(sim::number_record::end_hash);
    }
    made.cycles.reset();  // of the whole program as well
    subtract(made, idle_);
    char text[32];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    made.end_hash = text;
    return made;
  }

 private:
  observe::point new_point(unsigned threads) const {
    observe::point made;
    made.workload = "kyotocabinet";
    made.params = {{"machine", asked_.machine}, {"operations", asked_.operations}, {"records", asked_.records}};
    made.threads = threads;
    made.placement = "none";
    made.subject = lock_.name;
    made.kind = lock_.who;
    made.metric = "throughput";
    made.unit = "operations/s, simulated";
    return made;
  }

  const options& asked_;
  const sim::machine& machine_;
  const kind& lock_;
  observe::point idle_;
};

/// Where a lock's point is in the document, by threads.
using point_index = std::map<std::pair<std::string, unsigned>, std::size_t>;

// ---- the paper's numbers

struct compared {
  std::string words;
  double value;
  experiments::range wanted;
  std::string source;
  std::vector<std::size_t> from;
};

/// Within 5 points where a number is a percentage or a ratio that is given exactly, as in experiments.
void judge(const compared& what, double off, observe::document& result, std::FILE* out) {
  const bool hit = what.value >= what.wanted.low - off && what.value <= what.wanted.high + off;
  const double goal = std::isfinite(what.wanted.low) ? what.wanted.low : what.wanted.high;
  const std::string expected = experiments::expected_words(what.wanted);
  std::fprintf(out, "  %-46s %7.3f   paper %s (%s): %s\n", what.words.c_str(), what.value, expected.c_str(),
               what.source.c_str(), hit ? "hit" : "MISS");
  result.claims.push_back(
      {.id = "C2-3",
       .words = "Kyoto Cabinet, simulated: " + what.words + "; the paper has " + expected + " (" + what.source + ")",
       .value = what.value,
       .goal = goal,
       .outcome = observe::judge(hit),
       .from = what.from,
       .rule = "within the goal's range"});
}

double throughput(const observe::document& result, std::size_t at) {
  return observe::summarize(result.points[at].values).median;
}

void compare_locks(const point_index& points, observe::document& result, std::FILE* out) {
  for (const experiments::lock_fact& fact : experiments::kyoto_facts) {
    const auto mine = points.find({fact.lock, fact.threads});
    const auto other =
        points.find({fact.beside != nullptr ? fact.beside : baseline, fact.beside != nullptr ? fact.threads : 1});
    if (mine == points.end() || other == points.end()) continue;
    const std::string beside = fact.beside != nullptr ? fact.beside : "one thread";
    judge({std::string(fact.lock) + " over " + beside + ", " + std::to_string(fact.threads) + " threads",
           throughput(result, mine->second) / throughput(result, other->second),
           fact.expected,
           fact.source,
           {mine->second, other->second}},
          0, result, out);
  }
}

void compare_attempts(const point_index& points, observe::document& result, std::FILE* out) {
  const auto at = points.find({attempted, experiments::kyoto_htm_threads});
  if (at == points.end() || !result.points[at->second].attempts) return;
  const observe::attempt_record seen = *result.points[at->second].attempts;
  double aborts = 0;
  double conflicts = 0;
  for (const auto& [cause, count] : seen.aborts) {
    aborts += static_cast<double>(count);
    if (cause == "conflict") conflicts += static_cast<double>(count);
  }
  if (seen.commits == 0 || aborts == 0) return;
  const char* const source = "always-abort paper, IV-A 3: at 20 threads";
  judge({"tries of htm-10 for a commit",
         static_cast<double>(seen.attempts) / static_cast<double>(seen.commits),
         experiments::exactly(experiments::kyoto_tries_a_commit),
         source,
         {at->second}},
        experiments::kyoto_tries_a_commit * 0.15, result, out);
  judge({"percent of its aborts that are conflicts",
         100 * conflicts / aborts,
         experiments::exactly(experiments::kyoto_conflicts),
         source,
         {at->second}},
        5, result, out);
}

// ---- tables

void print_table(const options& asked, const point_index& points, const observe::document& result, std::FILE* out) {
  std::fprintf(out, "Kyoto Cabinet 1.2.79 on %s, simulated: %llu operations on a tree of %llu records, %u seeds\n",
               asked.machine.c_str(), static_cast<unsigned long long>(asked.operations),
               static_cast<unsigned long long>(asked.records), asked.seeds);
  for (const std::string& lock : asked.locks) std::fprintf(out, "  %-18s %s\n", lock.c_str(), kind_of(lock).words);
  std::fprintf(out, "\nthousand operations/s, by threads\n%-18s", "lock");
  for (const unsigned threads : asked.threads) std::fprintf(out, " %8u", threads);
  std::fputc('\n', out);
  for (const std::string& lock : asked.locks) {
    std::fprintf(out, "%-18s", lock.c_str());
    for (const unsigned threads : asked.threads)
      std::fprintf(out, " %8.1f", throughput(result, points.at({lock, threads})) / 1000);
    std::fputc('\n', out);
  }
}

void print_attempts_of(const observe::point& one, std::FILE* out) {
  if (!one.attempts || one.attempts->attempts == 0) return;
  std::fprintf(out, "%7u  %-18s %9llu %9llu ", one.threads, one.subject.c_str(),
               static_cast<unsigned long long>(one.attempts->attempts),
               static_cast<unsigned long long>(one.attempts->commits));
  for (const auto& [cause, count] : one.attempts->aborts) {
    if (count != 0) std::fprintf(out, " %s %llu", cause.c_str(), static_cast<unsigned long long>(count));
  }
  std::fputc('\n', out);
}

void print_attempts(const options& asked, const observe::document& result, std::FILE* out) {
  std::fprintf(out, "\nAttempts of the operations\n%7s  %-18s %9s %9s  %s\n", "threads", "lock", "attempts",
               "committed", "aborted");
  for (const observe::point& one : result.points) print_attempts_of(one, out);
  measure::bench_result places;
  const unsigned most = *std::max_element(asked.threads.begin(), asked.threads.end());
  for (const observe::point& one : result.points) {
    if (one.threads == most) places.points.push_back(one);
  }
  simulate::print_abort_places(out, places);
}

int bench(options asked, const std::vector<std::string>& command) {
  if (asked.locks.empty()) asked.locks = lock_names();
  if (!std::filesystem::exists(asked.program)) {
    throw std::runtime_error("no " + asked.program + ": integrations/kyotocabinet-simulated.sh --build makes it");
  }
  std::optional<observe::output> output;
  if (!asked.json.empty()) output.emplace(asked.json);
  const sim::machine machine = sim::load_machine(asked.machine);
  observe::document result;
  result.command = command;
  result.seed = asked.seed;
  result.machine = simulate::machine_object(machine);
  point_index points;
  for (const std::string& lock : asked.locks) {
    std::fprintf(stderr, "%s\n", lock.c_str());
    const lock_runs runs(asked, machine, kind_of(lock));
    for (const unsigned threads : asked.threads) {
      points[{lock, threads}] = result.points.size();
      result.points.push_back(runs.measure(threads));
    }
  }
  std::FILE* const out = asked.json == "-" ? stderr : stdout;
  print_table(asked, points, result, out);
  std::fputc('\n', out);
  compare_locks(points, result, out);
  compare_attempts(points, result, out);
  print_attempts(asked, result, out);
  if (output) output->write(result);
  return std::all_of(result.points.begin(), result.points.end(), [](const auto& one) { return one.faults.empty(); })
             ? 0
             : 1;
}

int main(int count, char** words) {
  CLI::App app("Kyoto Cabinet on a simulated machine, under the locks of the always-abort paper's Fig 10.");
  options asked;
  app.add_option("--threads", asked.threads, "how many, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(1U, 72U))
      ->capture_default_str();
  app.add_option("--locks", asked.locks, "which (all), separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(lock_names()));
  app.add_option("--seeds", asked.seeds, "runs of each")->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--operations", asked.operations, "of all threads together")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000'000));
  app.add_option("--records", asked.records, "in the tree before")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000'000));
  app.add_option("--seed", asked.seed, "the first")->capture_default_str();
  app.add_option("--machine", asked.machine, "of txsync list machines, or a file")->capture_default_str();
  app.add_option("--program", asked.program, "that has been built");
  app.add_option("--json", asked.json, "write a result document to this file; - is the standard output");
  return run_command(app, "bench_kyotocabinet_simulated", count, words,
                     [&](const std::vector<std::string>& command) { return bench(asked, command); });
}

}  // namespace

}  // namespace txsync::inline TXSYNC_BACKEND::benchmarks

int main(int count, char** words) { return txsync::benchmarks::main(count, words); }
