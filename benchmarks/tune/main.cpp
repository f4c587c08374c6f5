// SPDX-License-Identifier: Apache-2.0
// bench_tune (./dev bench tune): does the tuner find the right answer if that is known? The tuned program has 8 threads
// on few cores, and one hot mutex that was made a strictly FIFO spin lock. Beside it are twenty innocent locks. The
// result runs against the policies that an expert would write by hand, in fresh interleaved rounds. Claim A2-3. Claims
// A3-8 (one_of_twenty.hpp) and A4-2 (word_count.hpp) are about other programs.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>

#include "command.hpp"
#include "doctor/machine_object.hpp"
#include "launch/launch.hpp"
#include "observe/document/output.hpp"
#include "observe/statistics.hpp"
#include "policy/policy.hpp"
#include "tune/engine.hpp"
#include "tune/hand_made.hpp"
#include "tune/one_of_twenty.hpp"
#include "tune/program.hpp"
#include "tune/word_count.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

constexpr const char* hot_function = "make_hot_lock";
constexpr const char* metric_regex = "sections/s: ([0-9]+)";

struct options {
  unsigned rounds = 12;
  unsigned threads = 8;
  unsigned milliseconds = 500;  // shorter runs are all in one disturbance of the machine
  unsigned long sections = 300'000;
  unsigned texts = word_count_options{}.texts;
  std::string only;  // a part; empty: all
  std::string json;
};

std::vector<std::string> command_of(const options& asked) {
  return {TXSYNC_HOT_LOCK, std::to_string(asked.threads), std::to_string(asked.milliseconds)};
}

/// The name of the hot mutex' site, as a first run tells it.
std::string find_hot_site(const options& asked) {
  launch::options what;
  what.command = command_of(asked);
  what.capture = true;
  for (const observe::site_record& one : launch::launch(what).sites)
    if (one.name.find(hot_function) != std::string::npos) return one.name;
  throw std::runtime_error("the hot lock's site was not counted");
}

policy::policy_set with_hot(const std::string& site, policy::lock_kind kind) { return with_site(site, {.lock = kind}); }

struct file_of_policy {
  std::string path;
  explicit file_of_policy(const policy::policy_set& set) {
    char name[] = "/tmp/txsync-bench-XXXXXX";
    const int file = mkstemp(name);
    if (file < 0) throw std::runtime_error("no temporary file");
    close(file);
    path = name;
    std::ofstream(path) << policy::to_toml(set, "What somebody has: a bad choice for one lock.\n");
  }
  ~file_of_policy() { unlink(path.c_str()); }
  file_of_policy(const file_of_policy&) = delete;
  file_of_policy& operator=(const file_of_policy&) = delete;
};

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

tune::environment reporting_environment(std::function<bool()> stop) {
  return {now_seconds, std::move(stop), [](const tune::progress& now) {
            std::fprintf(stderr, "%s, round %u of %u\n", now.phase.c_str(), now.round, now.rounds);
          }};
}

tune::outcome tune_it(tune::program_trial& runs, const std::string& bad) {
  tune::question question;
  question.candidates = {bad, "libc", "mutex", "tatas", "ticket"};
  question.way = observe::better::higher;
  return tune::tune(runs, question, reporting_environment([&] { return runs.interrupted(); }));
}

observe::point common_of(const options& asked) {
  observe::point made;
  made.workload = "hot_lock";
  made.params = {{"milliseconds", asked.milliseconds}, {"innocent_locks", 20}};
  made.threads = asked.threads;
  made.placement = "none";
  made.metric = "throughput";
  made.unit = "sections/s";
  return made;
}

observe::claim claim_named(const tune::outcome& found) {
  const std::string first = found.reference_sites.empty() ? "(none)" : found.reference_sites.front().counted.name;
  const bool named = first.find(hot_function) != std::string::npos;
  return {.id = "A2-3",
          .words = "where threads waited most under what was there, as the tuner names it: " + first,
          .value = named,
          .goal = true,
          .outcome = observe::judge(named),
          .from = {0}};
}

/// Claim A2-3.
void bench_hot_lock(observe::document& result, const options& asked, std::FILE* table) {
  const std::string hot = find_hot_site(asked);
  const file_of_policy bad(with_hot(hot, policy::lock_kind::fifo_ticket));
  tune::program_trial runs(command_of(asked), tune::metric(metric_regex),
                           {bad.path, "libc", "mutex", "tatas", "ticket"});
  const tune::outcome found = tune_it(runs, bad.path);
  const std::optional<policy::policy_set> tuned = runs.policy_of(found.best);
  std::vector<subject> subjects;
  subjects.push_back(
      {"tuned: " + tune::name_of(found.best), tuned ? *tuned : policy::policy_set{}, observe::subject_kind::ours});
  for (const policy::lock_kind kind :
       {policy::lock_kind::libc, policy::lock_kind::mutex, policy::lock_kind::tatas, policy::lock_kind::ticket})
    subjects.push_back({std::string("by hand: hot lock ") + policy::to_string(kind), with_hot(hot, kind),
                        observe::subject_kind::peer});
  subjects.push_back(
      {"what was there: fifo_ticket", with_hot(hot, policy::lock_kind::fifo_ticket), observe::subject_kind::peer});
  program_runs program(command_of(asked), metric_regex);
  measure(subjects, asked.rounds, [&](const policy::policy_set& policies, unsigned) { return program(policies); });
  const std::size_t first = put_points(result, subjects, common_of(asked));
  result.claims.push_back(claim_best({.id = "A2-3", .words = "the tuned policy to the best one made by hand"}, subjects,
                                     subjects.size() - 2, first));
  result.claims.push_back(claim_named(found));
  print("sections/s of the hot lock", subjects, table);
}

int bench(const options& asked, const std::vector<std::string>& command) {
  std::optional<observe::output> output;
  if (!asked.json.empty()) output.emplace(asked.json);
  observe::document result;
  result.command = command;
  result.started = observe::utc_now();
  std::FILE* const table = asked.json == "-" ? stderr : stdout;
  const auto wanted = [&](const char* part) { return asked.only.empty() || asked.only == part; };
  const tune::environment world = reporting_environment([] { return false; });
  if (wanted("hot_lock")) bench_hot_lock(result, asked, table);
  if (wanted("twenty_locks")) tune_one_of_twenty(result, asked.sections, world);
  const word_count_options words{.rounds = asked.rounds, .texts = asked.texts};
  if (wanted("word_count")) tune_word_count(result, words, world, table);
  if (wanted("simulated_word_count")) tune_simulated_word_count(result, words, world, table);
  print_claims(result.claims, table);
  if (output) {
    result.machine = doctor::machine_object(doctor::collect());
    output->write(result);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app(
      "Tunes a program with one badly chosen lock, and compares the outcome with policies made by hand; a program with "
      "twenty mutexes of the C library, one of which another lock would serve better; and an example that links "
      "txsync and gives a lock the wrong policy, here and on a simulated machine.");
  options asked;
  app.add_option("--rounds", asked.rounds, "of the comparison")->capture_default_str()->check(CLI::Range(6, 1000));
  app.add_option("--threads", asked.threads, "of the program")->capture_default_str()->check(CLI::Range(1, 64));
  app.add_option("--duration", asked.milliseconds, "milliseconds a run")
      ->capture_default_str()
      ->check(CLI::Range(1, 60'000));
  app.add_option("--sections", asked.sections, "of the program with twenty locks")
      ->capture_default_str()
      ->check(CLI::Range(1000UL, 1'000'000'000UL));
  app.add_option("--texts", asked.texts, "of word_count")->capture_default_str()->check(CLI::Range(1U, 1'000'000U));
  app.add_option("--only", asked.only, "hot_lock, twenty_locks, word_count or simulated_word_count")
      ->check(CLI::IsMember({"hot_lock", "twenty_locks", "word_count", "simulated_word_count"}));
  app.add_option("--json", asked.json, "write a result document to this file; - is the standard output");
  return run_command(app, "bench_tune", count, words,
                     [&](const std::vector<std::string>& command) { return bench(asked, command); });
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

int main(int count, char** words) { return txsync::benchmarks::main(count, words); }
