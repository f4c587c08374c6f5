// SPDX-License-Identifier: Apache-2.0
// bench_tm: atomic blocks by every algorithm, beside one mutex and GCC's transactional memory (./dev bench tm).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "command.hpp"
#include "doctor/machine_object.hpp"
#include "locks/measure.hpp"
#include "locks/table.hpp"
#include "observe/document/output.hpp"
#include "peers/peers.hpp"
#include "tm/attempts.hpp"
#include "tm/auto_claims.hpp"
#include "tm/claims.hpp"
#include "tm/mixed_simulated.hpp"
#include "tm/promises.hpp"
#include "tm/separate.hpp"
#include "tm/windows.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

struct options {
  std::vector<unsigned> threads{1, 2, 4};
  unsigned rounds = 6;
  unsigned milliseconds = 150;
  unsigned churn = 60;
  unsigned simulated = 5;
  std::uint64_t seed = 1;
  bool inside = true;
  bool table = true;
  std::string json;
};

/// Shorter runs have too few windows.
constexpr unsigned min_windows_ms = 50;

request make_request(const options& asked) {
  request wanted;
  wanted.attempts_so_far = attempts_so_far;
  wanted.threads = asked.threads;
  wanted.rounds = asked.rounds;
  wanted.duration_ns = std::uint64_t{asked.milliseconds} * 1'000'000;
  wanted.seed = asked.seed;
  wanted.watches_windows = wanted.times_operations = asked.milliseconds >= min_windows_ms;
  if (!asked.table) return wanted;
  for (const tm_goals& one : all_tm_goals) {
    wanted.sections.push_back(preset_section(one.preset, "transactions", one.preset));
  }
  for (const tm_goals& one : all_tm_goals) {
    const std::string name = std::string(one.preset) + inside_mark;
    if (!asked.inside || workloads::find_preset(*wanted.sections.front().workload, name) == nullptr) continue;
    wanted.sections.push_back(preset_section(name.c_str(), "transactions", name.c_str()));
  }
  if (asked.inside && machine::htm().attempts) {
    for (section& one : mixed_sections()) wanted.sections.push_back(std::move(one));
  }
  for (const workloads::subject& one : workloads::subjects()) {
    // Without hardware transactions htm_sgl and htm_sgl_adaptive are sgl, and the hybrids are their software halves.
    const std::string_view name = one.name;
    const bool in_hardware = name.starts_with("tm_htm_sgl") || name.starts_with("tm_hy") || name == "tm_auto";
    if (!one.is_algorithm || (in_hardware && !machine::htm().attempts)) continue;
    wanted.subjects.push_back(one);
  }
  wanted.subjects.push_back(*workloads::find_subject("std::mutex"));
  for (const workloads::subject& one : itm_subjects()) wanted.subjects.push_back(one);
  return wanted;
}

const char* itm_method() {
  const char* const asked = std::getenv("ITM_DEFAULT_METHOD");
  return asked != nullptr ? asked : "its own choice, ml_wt where there are no hardware transactions";
}

void print_table(std::FILE* out, const request& wanted, const measured& all) {
  print_windows_legend(out, wanted);
  print_sections(out, wanted, all,
                 [&](std::FILE* file, std::size_t one) { print_windows(file, wanted, all.cells, one); });
  print_attempts(out, wanted, all.cells);
  print_paths(out, wanted, all.cells);
  if (!machine::htm().attempts) {
    std::fprintf(
        out,
        "Hardware transactions do not commit on this machine: auto and %s are not measured, and what D2-2 asks of\n"
        "them is neither held nor missed.\n",
        mixed_preset);
  }
  if (itm_subjects().empty()) {
    std::fprintf(out, "libitm: this build has none (GCC's -fgnu-tm)\n");
  } else {
    std::fprintf(out, "libitm's method: %s\n", itm_method());
  }
}

int run(const options& asked, const std::vector<std::string>& words) {
  const request wanted = make_request(asked);
  std::optional<observe::output> output;
  if (!asked.json.empty()) output.emplace(asked.json);
  stop_when_interrupted();
  const measured all =
      measure_until_decided(wanted, [&](const std::vector<cell>& cells) { return make_tm_claims(wanted, cells); });

  std::FILE* const out = output && output->is_standard_output() ? stderr : stdout;
  if (asked.table) print_table(out, wanted, all);
  observe::document result;
  const bool sound = add_points(result, wanted, all, "bench_tm");
  result.claims = make_tm_claims(wanted, all.cells);
  if (!interrupted()) {
    measure_progress(result, 1'000);
    measure_separate(out, result, asked.milliseconds);
    if (asked.churn != 0) measure_churn(result, asked.churn);
    if (asked.simulated != 0) simulate_mixed(out, result, asked.simulated);
  }
  print_claims(out, result.claims);
  if (output) {
    result.command = words;
    result.machine = txsync::doctor::machine_object(txsync::doctor::collect());
    result.seed = wanted.seed;
    result.started = observe::utc_now();
    result.interrupted = interrupted();
    output->write(result);
  }
  return sound ? 0 : 1;
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

int main(int count, char** words) {
  using namespace txsync::benchmarks;
  options asked;
  CLI::App app{
      "Atomic blocks by each algorithm of txsync::tm, beside the same code under one std::mutex and by GCC's libitm:\n"
      "interleaved, medians with ranges; then starvation, sleeping and memory in churn. Exit status: 1 when a "
      "structure\n"
      "came out wrong or the run was interrupted, 2 for bad input."};
  app.add_option("--threads", asked.threads, "numbers of threads (1,2,4)")->delimiter(',')->check(CLI::Range(1, 1024));
  app.add_option("--rounds", asked.rounds, "repetitions, each over all cells (6)")->check(CLI::Range(2, 1000));
  app.add_option("--duration", asked.milliseconds, "milliseconds a run (150)")->check(CLI::Range(1, 60'000));
  app.add_option("--churn", asked.churn, "seconds of churn (60); 0: none")->check(CLI::Range(0, 3'600));
  app.add_option("--simulated", asked.simulated, "milliseconds of mixed blocks on simulated machines (5); 0: none")
      ->check(CLI::Range(0, 1'000));
  app.add_option("--seed", asked.seed, "of the random places (1)");
  app.add_flag("!--no-inside", asked.inside, "without nodes that sections allocate");
  app.add_flag("!--no-table", asked.table, "without the table of algorithms: only what stands below it");
  app.add_option("--json", asked.json, "write a result document to this file; - is the standard output");
  return run_command(app, "bench_tm", count, words, [&](const auto& line) { return run(asked, line); });
}
