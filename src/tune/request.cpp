// SPDX-License-Identifier: Apache-2.0
// The options of `txsync tune`, checked.
#include <algorithm>
#include <limits>

#include <txsync/machine/attempt.hpp>

#include "base/bad_input.hpp"
#include "base/words.hpp"
#include "launch/program_input.hpp"
#include "measure/describe.hpp"
#include "policy/policy.hpp"
#include "simulate/simulate.hpp"
#include "tune/request.hpp"
#include "tune/simulated.hpp"
#include "tune/usual_policies.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {
using base::bad_input;
using base::number_of;
using base::split;
using base::words;

namespace {

constexpr std::uint64_t max_rounds = 1000;
constexpr std::uint64_t max_seconds = 1'000'000;
constexpr unsigned usual_rounds = 10;
constexpr std::uint64_t max_first_seed = std::numeric_limits<std::uint64_t>::max() / 2;  // each run takes the next seed

/// What a program that uses pthread has in a workload's place.
constexpr const char* usual_lock = "pthread_mutex";
constexpr const char* usual_barrier = "pthread_barrier";

void check_unique(const words& names) {
  for (auto at = names.begin(); at != names.end(); ++at) {
    if (at->empty()) throw bad_input("--candidates: one of them is empty");
    if (std::find(names.begin(), at, *at) != at) throw bad_input("--candidates: '" + *at + "' is given twice");
  }
}

/// The reference first, then the others without it.
words with_reference(const std::string& reference, const words& others) {
  words list = {reference};
  std::copy_if(others.begin(), others.end(), std::back_inserter(list),
               [&](const std::string& name) { return name != reference; });
  if (list.size() == 1) throw bad_input("--candidates: there is nothing to compare with '" + reference + "'");
  return list;
}

words usual_candidates(offered_attempts machine, std::vector<left_out>& others) {
  for (const policy::named_policy& one : policy::named_policies())
    if (const char* const reason = why_left_out(one.name, machine)) others.push_back({{one.name}, reason});
  words names = usual_policies(machine);
  names.insert(names.begin(), unmodified);
  return names;
}

/// There each run counts, so "libc" need not run the same locks again.
words usual_candidates_simulated(const sim::machine_model& model, std::vector<left_out>& others) {
  words names = usual_candidates(offered_by(model), others);
  std::erase(names, "libc");
  others.push_back({{"libc"}, "on a simulated machine it equals 'unmodified'"});
  return names;
}

/// Each run opens it anew. Whether that works is checked before the first run.
void check_input(const std::string& file) {
  try {
    const launch::program_input known(file);
  } catch (const launch::cannot_start& error) {
    throw bad_input("--input: " + std::string(error.what()));
  }
}

/// Describes a program's name, arguments and input as workload and parameters.
void describe_program(tune_request& request) {
  std::string name = request.command.front();
  request.described.workload = name.substr(name.rfind('/') + 1);
  std::string arguments;
  for (auto at = request.command.begin() + 1; at != request.command.end(); ++at)
    arguments += (arguments.empty() ? "" : " ") + *at;
  if (!arguments.empty()) request.described.params["args"] = arguments;
  if (request.input) request.described.params["input"] = *request.input;
}

void check_simulated(tune_request& request, const tune_options& options) {
  if (options.input) throw bad_input("--input: a program on a simulated machine reads no standard input");
  request.machine = simulate::checked_machine(options.machine);
  request.machine_word = options.machine.value_or("");
  request.seed = number_of("--seed", options.seed, 0, max_first_seed, 1);
  request.described.metric = "simulated time";
}

void check_program(tune_request& request, const tune_options& options) {
  if (request.command.front().empty()) throw bad_input("the program after -- is an empty word");
  for (const auto& [given, name] : {std::pair{options.threads.has_value(), "--threads"},
                                    {options.duration.has_value(), "--duration"},
                                    {options.seed.has_value() && !options.machine, "--seed"}}) {
    if (given) throw bad_input(std::string(name) + " is for built-in workloads; a program has its own arguments");
  }
  if (options.machine) {
    check_simulated(request, options);
  } else if (options.input) {
    check_input(*options.input);
  }
  request.input = options.input;
  describe_program(request);
  if (options.metric) {
    try {
      request.metric.emplace(*options.metric);
    } catch (const metric_error& error) {
      throw bad_input("--metric: " + std::string(error.what()));
    }
    request.described.metric = *options.metric;
    request.described.unit = "as printed";
    request.described.better_word = "good";
    request.described.way = options.lower_is_better ? observe::better::lower : observe::better::higher;
  }
  std::vector<left_out>& others = request.described.others;
  const words candidates = options.candidates ? split(*options.candidates)
                           : request.machine  ? usual_candidates_simulated(request.machine->model, others)
                                              : usual_candidates(offered_here(), others);
  check_unique(candidates);
  request.asked.candidates = with_reference(options.from.value_or(unmodified), candidates);
  if (request.asked.candidates.front() == unmodified) {
    request.asked.site_base = "libc";
    if (!request.machine) request.asked.counted_reference = "libc";
  }
}

/// Locks of txsync that can run the workload, and that provide exclusion.
words usual_locks(const workloads::workload& which, std::vector<left_out>& others) {
  words names;
  words plain_here;
  for (const workloads::subject& one : workloads::subjects()) {
    if (one.peer || !one.exclusive || one.simulated_only || one.runner_of(workloads::id_of(which)) == nullptr) continue;
    (one.speculates && !machine::htm().attempts ? plain_here : names).emplace_back(one.name);
  }
  if (!plain_here.empty())
    others.push_back({plain_here, "without hardware transactions each behaves as its plain lock"});
  return names;
}

void check_workload(tune_request& request, const tune_options& options) {
  if (options.metric || options.lower_is_better)
    throw bad_input("--metric is for programs; a workload's metric is its throughput");
  if (options.input) throw bad_input("--input is for programs; a built-in workload reads nothing");
  if (options.machine)
    throw bad_input("--machine is for a program after --; txsync sim runs workloads on simulated machines");
  if (options.what.empty())
    throw bad_input("what to tune is missing; allowed: a built-in workload, or -- PROGRAM ARGUMENTS");
  measure::bench_options bench;
  bench.workload = options.what.front();
  bench.settings.assign(options.what.begin() + 1, options.what.end());
  bench.threads = options.threads.value_or(std::to_string(std::max(2U, machine::cpu_count())));
  bench.duration = options.duration;
  bench.seed = options.seed;
  request.bench = measure::checked(bench, measure::native_environment());
  if (request.bench->threads.size() != 1) throw bad_input("--threads: several numbers are given; allowed: one");
  request.bench->plan.threads = request.bench->threads.front();
  const workloads::workload& which = *request.bench->workload;
  const words candidates =
      options.candidates ? split(*options.candidates) : usual_locks(which, request.described.others);
  check_unique(candidates);
  const bool on_locks = workloads::find_subject(usual_lock)->runner_of(workloads::id_of(which)) != nullptr;
  request.asked.candidates = with_reference(options.from.value_or(on_locks ? usual_lock : usual_barrier), candidates);
  std::string names;
  for (const std::string& name : request.asked.candidates) names += (names.empty() ? "" : ",") + name;
  bench.locks = names;
  try {
    measure::checked(bench, measure::native_environment());
  } catch (const bad_input& error) {
    // Reported for bench's --lock; here the option is --candidates.
    throw bad_input("--candidates" + std::string(error.what()).substr(std::string("--lock").size()));
  }
  request.asked.by_sites = false;
  request.asked.way = observe::better::higher;
  request.described = {which.name,
                       measure::named_values(which, request.bench->values),
                       request.bench->plan.threads,
                       request.bench->placement,
                       "throughput",
                       std::string(which.operation) + "/s",
                       observe::better::higher,
                       "fast",
                       std::move(request.described.others)};
}

}  // namespace

tune_request checked(const tune_options& options, const words& program) {
  tune_request request;
  if (!program.empty() && !options.what.empty()) {
    throw bad_input("'" + options.what.front() +
                    "' is before --; allowed: a workload without --, or -- PROGRAM ARGUMENTS");
  }
  if (options.lower_is_better && !options.metric) throw bad_input("--lower-is-better needs --metric");
  if (!program.empty()) {
    request.command = program;
    check_program(request, options);
  } else {
    check_workload(request, options);
  }
  request.asked.way = request.described.way;
  request.asked.rounds =
      static_cast<unsigned>(number_of("--rounds", options.rounds, min_proof_rounds, max_rounds, usual_rounds));
  request.asked.seconds = static_cast<double>(number_of("--time", options.time, 1, max_seconds, 0));
  return request;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
