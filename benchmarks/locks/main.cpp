// SPDX-License-Identifier: Apache-2.0
// bench_locks: our locks beside the best of other libraries (./dev bench locks).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>

#include "command.hpp"
#include "doctor/machine_object.hpp"
#include "locks/claims.hpp"
#include "locks/counting_cost.hpp"
#include "locks/elision_cost.hpp"
#include "locks/measure.hpp"
#include "locks/scenarios.hpp"
#include "locks/table.hpp"
#include "locks/waiting.hpp"
#include "observe/document/output.hpp"
#include "peers/peers.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

struct options {
  std::vector<unsigned> threads{1, 2, 4, 8};
  std::vector<std::string> sections;
  std::vector<std::string> locks;
  std::string workload;
  unsigned rounds = 12;
  unsigned milliseconds = 50;
  std::uint64_t seed = 1;
  bool quick = false;
  bool elision_only = false;
  bool scenarios_only = false;
  bool waiting_only = false;
  std::vector<unsigned> crowds{64, 512};
  unsigned waiting_rounds = 20;
  std::string json;
};

constexpr unsigned max_scenario_rounds = 6;

void refuse_simulated(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const workloads::subject* const found = workloads::find_subject(name);
    if (found != nullptr && found->simulated_only)
      throw bad_request("lock '" + name + "' is simulated only (txsync sim)");
  }
}

request make_request(const options& asked) {
  request wanted;
  wanted.sections = lock_sections();
  wanted.subjects = all_subjects();
  wanted.threads = asked.threads;
  wanted.rounds = asked.rounds;
  wanted.duration_ns = std::uint64_t{asked.milliseconds} * 1'000'000;
  wanted.seed = asked.seed;
  wanted.times_waits = true;
  refuse_simulated(asked.locks);
  keep_named(wanted.sections, asked.sections, "section", [](const section& one) { return one.name; });
  keep_named(wanted.subjects, asked.locks, "lock", [](const workloads::subject& one) { return one.name; });
  if (!asked.workload.empty()) {
    std::erase_if(wanted.sections, [&](const section& one) { return one.workload->name != asked.workload; });
    if (wanted.sections.empty())
      throw bad_request("no section of workload '" + asked.workload + "'; there are: arraybench, mapbench");
  }
  return wanted;
}

waiting_request waiting_of(const options& asked) {
  return {.threads = asked.threads,
          .crowds = asked.crowds,
          .rounds = asked.waiting_rounds,
          .milliseconds = asked.milliseconds,
          .seed = asked.seed,
          .until_decided = !asked.quick};
}

int run(const options& asked, const std::vector<std::string>& words) {
  const request wanted = make_request(asked);
  std::optional<observe::output> output;
  if (!asked.json.empty()) output.emplace(asked.json);
  stop_when_interrupted();

  const bool everything = asked.sections.empty() && asked.locks.empty() && asked.workload.empty();
  // A quick run is too short for claims.
  const auto claims_of = [&](const std::vector<cell>& cells) {
    return asked.quick ? std::vector<observe::claim>() : make_claims(wanted, cells, compare_with_peers(wanted, cells));
  };
  const bool chosen = asked.elision_only || asked.scenarios_only || asked.waiting_only;
  // What was interrupted before its first round has nothing to print.
  const auto wants = [&](bool only) { return everything && (only || !chosen) && !interrupted(); };
  const measured all = chosen ? measured() : measure_until_decided(wanted, claims_of);
  std::vector<elision_cost> costs;
  if (wants(asked.elision_only)) costs = measure_elision_cost(asked.rounds, wanted.duration_ns / 5, !asked.quick);
  std::vector<counting_cost> counting;
  if (wants(asked.elision_only)) counting = measure_counting_cost(asked.rounds, !asked.quick);
  std::vector<scenario_result> scenarios;
  if (wants(asked.scenarios_only))
    scenarios = measure_scenarios(std::min(asked.rounds, max_scenario_rounds), 2 * wanted.duration_ns);
  std::vector<waiting_cell> waiting;
  if (wants(asked.waiting_only)) waiting = measure_waiting(waiting_of(asked));
  const std::vector<comparison> compared = compare_with_peers(wanted, all.cells);

  std::FILE* const out = output && output->is_standard_output() ? stderr : stdout;
  if (!all.cells.empty()) print_sections(out, wanted, all);
  if (!all.cells.empty()) print_ratios(out, wanted, compared);
  print_costs_of_bound(out, wanted, costs_of_bound(wanted, all.cells));
  print_elision_cost(out, costs);
  print_counting_cost(out, counting);
  print_scenarios(out, scenarios);
  print_waiting(out, waiting);
  observe::document result;
  result.claims = claims_of(all.cells);
  const bool sound = add_points(result, wanted, all, "bench_locks");
  add_elision_cost(result, costs, !asked.quick);
  add_counting_cost(result, counting, !asked.quick);
  for (scenario_result& one : scenarios) {
    if (!one.point.values.empty()) result.points.push_back(std::move(one.point));
  }
  add_waiting(result, waiting, !asked.quick);
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

void add_options(CLI::App& app, options& asked) {
  app.add_option("--threads", asked.threads, "numbers of threads (1,2,4,8)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  app.add_option("--sections", asked.sections, "of empty, small, large-low, large-high, mapbench (all)")
      ->delimiter(',');
  app.add_option("--workload", asked.workload, "only the sections of this workload");
  app.add_option("--locks", asked.locks, "only these (all)")->delimiter(',');
  app.add_option("--rounds", asked.rounds, "repetitions, each over all cells (12)")->check(CLI::Range(2, 1000));
  app.add_option("--duration", asked.milliseconds, "milliseconds a run (50)")->check(CLI::Range(1, 60'000));
  app.add_option("--seed", asked.seed, "of the random places (1)");
  app.add_flag("--elision-only", asked.elision_only,
               "only what elision costs without contention, and counting attempts");
  app.add_flag("--scenarios-only", asked.scenarios_only,
               "only the owner's speed, rising and falling load, and readers against a writer");
  app.add_flag("--waiting-only", asked.waiting_only, "only how long waiters wait, and how fast threads hand over");
  app.add_option("--crowds", asked.crowds, "numbers of threads that join two others for a while (64,512)")
      ->delimiter(',')
      ->check(CLI::Range(2, 1024));
  app.add_flag("--quick", asked.quick, "4 rounds of 20 ms for a first look; no claims");
  app.add_option("--json", asked.json, "write a result document to this file; - is the standard output");
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

int main(int count, char** arguments) {
  using namespace txsync::benchmarks;
  options asked;
  CLI::App app{
      "Our locks beside those of other libraries, interleaved: medians with ranges, and the ratio to the best peer.\n"
      "Exit status: 1 when a lock gave a wrong result or the run was interrupted, 2 for bad input."};
  add_options(app, asked);
  return run_command(app, "bench_locks", count, arguments, [&](const auto& words) {
    if (asked.quick && app.count("--rounds") == 0) asked.rounds = 4;
    if (asked.quick && app.count("--duration") == 0) asked.milliseconds = 20;
    if (asked.quick || app.count("--rounds") != 0) asked.waiting_rounds = asked.rounds;
    return run(asked, words);
  });
}
