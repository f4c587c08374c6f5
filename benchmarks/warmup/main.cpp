// SPDX-License-Identifier: Apache-2.0
// bench_warmup (./dev bench warmup): locks whose waiters warm up in software. Beside them run the same locks, the best
// of other libraries, and these with the same prefetch before every lock().
#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

#include "command.hpp"
#include "doctor/machine_object.hpp"
#include "locks/measure.hpp"
#include "locks/table.hpp"
#include "observe/document/output.hpp"
#include "peers/peers.hpp"
#include "warmup/claims.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

struct options {
  std::vector<unsigned> threads{1, 2, 4, 8};
  unsigned rounds = 6;
  unsigned milliseconds = 200;
  std::uint64_t seed = 1;
  bool arrays = true;
  bool structures = true;
  std::vector<std::string> locks;
  std::string json;
};

constexpr const char* names[] = {
    "ticket",        "warm_ticket", "mcs",           "warm_mcs",   "tatas",           "warm_tatas",
    "txsync::mutex", "warm_mutex",  "pthread_mutex", "std::mutex", "tbb::spin_mutex", "tbb::queuing_mutex",
    "tbb::mutex",    "absl::Mutex", "ck_fas",        "ck_ticket",  "ck_mcs"};

/// arraybench as the always-abort paper has it, IV-A 1, and larger.
void add_arrays(std::vector<section>& into) {
  for (const unsigned mi : {1U, 16U, 64U}) {
    for (const bool large : {false, true}) {
      for (const bool high : {false, true}) {
        section one = preset_section("", "arraybench",
                                     large ? (high ? "large-high" : "large-low") : (high ? "small-high" : "small-low"));
        one.name = std::to_string(mi) + " Mi ints, " + (large ? "100" : "10") + " writes, " + (high ? "high" : "low");
        const int ints = workloads::find_parameter(*one.workload, "ints");
        one.values.values[ints] = std::uint64_t{mi} << 20;
        into.push_back(one);
      }
    }
  }
}

request make_request(const options& asked) {
  request wanted;
  wanted.threads = asked.threads;
  wanted.rounds = asked.rounds;
  wanted.duration_ns = std::uint64_t{asked.milliseconds} * 1'000'000;
  wanted.seed = asked.seed;
  wanted.keeps_data = true;
  if (asked.structures) {
    wanted.sections = {preset_section("mapbench 10 M keys, 10 % writes", "mapbench", "10m-10"),
                       preset_section("chained map, 2 M items", "hashmap", "large"),
                       preset_section("B+-tree 10 M keys, 10 % writes", "tree", "10m-10")};
  }
  if (asked.arrays) add_arrays(wanted.sections);
  const std::vector<workloads::subject> all = all_subjects();
  for (const char* const name : names) {
    for (const workloads::subject& one : all) {
      if (std::string_view(one.name) == name) wanted.subjects.push_back(one);
    }
  }
  for (const workloads::subject& one : all_ahead_subjects()) wanted.subjects.push_back(one);
  keep_named(wanted.subjects, asked.locks, "lock", [](const workloads::subject& one) { return one.name; });
  return wanted;
}

int run(const options& asked, const std::vector<std::string>& words) {
  const request wanted = make_request(asked);
  std::optional<observe::output> output;
  if (!asked.json.empty()) output.emplace(asked.json);
  stop_when_interrupted();
  const measured all =
      measure_until_decided(wanted, [&](const std::vector<cell>& cells) { return make_warmup_claims(wanted, cells); });

  std::FILE* const out = output && output->is_standard_output() ? stderr : stdout;
  const std::vector<comparison> on_arrays = compare_on_arrays(wanted, all.cells);
  print_sections(out, wanted, all, [&](std::FILE* to, std::size_t place) {
    if (is_array(wanted, place)) print_on_array(to, wanted, on_arrays, place);
  });
  observe::document result;
  result.claims = make_warmup_claims(wanted, all.cells);
  print_claims(out, result.claims);
  add_on_arrays(wanted, on_arrays, result.claims);
  const bool sound = add_points(result, wanted, all, "bench_warmup");
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
      "Locks whose waiters warm up, beside the same locks without, other libraries' locks, and these with the same\n"
      "prefetch before every lock(): interleaved, medians with ranges. Maps, trees and arrays are kept from one run\n"
      "of a section to the next; a section's first run makes them. Exit status: 1 when a lock gave a wrong result or\n"
      "the run was interrupted, 2 for bad input."};
  app.add_option("--threads", asked.threads, "numbers of threads (1,2,4,8)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  app.add_option("--rounds", asked.rounds, "repetitions, each over all cells (6)")->check(CLI::Range(2, 1000));
  app.add_option("--duration", asked.milliseconds, "milliseconds a run (200)")->check(CLI::Range(1, 60'000));
  app.add_option("--seed", asked.seed, "of the random places (1)");
  app.add_flag("!--no-arrays", asked.arrays, "without arraybench");
  app.add_flag("!--no-structures", asked.structures, "without maps and tree");
  app.add_option("--locks", asked.locks, "only these (all)")->delimiter(',');
  app.add_option("--json", asked.json, "write a result document to this file; - is the standard output");
  return run_command(app, "bench_warmup", count, words, [&](const auto& line) { return run(asked, line); });
}
