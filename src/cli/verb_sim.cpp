// SPDX-License-Identifier: Apache-2.0
// txsync sim WORKLOAD --machine M: a built-in workload on a simulated machine; or after -- a program of txsync-c++.
#include <limits>

#include "base/bad_input.hpp"
#include "base/words.hpp"
#include "cli/bench_table.hpp"
#include "cli/options.hpp"
#include "cli/verbs.hpp"
#include "simulate/simulate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::bad_input;
using base::number_of;
using base::words;

namespace {

constexpr std::uint64_t max_slack_cycles = 10'000;
constexpr std::uint64_t max_limit_ms = 1'000'000;

class sim_verb final : public verb {
 public:
  const char* name() const override { return "sim"; }
  const char* summary() const override {
    return "Run a workload, or a program built by txsync-c++, on a simulated machine";
  }

  void define(CLI::App& app) override {
    workload_arguments(app, options_.workload, options_.settings);
    text_option(app, "--machine", machine_, "NAME|FILE",
                "Machine to simulate (required); txsync list machines prints all");
    text_option(app, "--preset", options_.preset, "NAME",
                "Start from the preset NAME; KEY=VALUE changes single parameters");
    text_option(app, "--lock", options_.locks, "LOCK,...",
                "Locks to measure (default: all that do not speculate and are not simulated only); txsync list locks "
                "prints all");
    text_option(app, "--threads", options_.threads, "N,...", "Numbers of threads (default: 1, 2, 4, ... up to 16)");
    text_option(app, "--place", options_.placement, "PLACE",
                "CPUs of the threads: cores-first (default), smt-first, socket=N, none (not pinned)");
    text_option(app, "--repeat", options_.repeat, "N", "Repetitions, each with a seed of its own (default: 1)");
    text_option(app, "--duration", options_.duration, "MS",
                "Virtual milliseconds per repetition (default: 1), after a run-in of a tenth of that");
    text_option(app, "--operations", options_.operations, "N", "Operations per thread, instead of a duration");
    text_option(app, "--seed", options_.seed, "N", "Seed of all random choices (default: 1)");
    text_option(app, "--slack", slack_, "CYCLES",
                "How far a thread may run ahead in accesses that no other thread observes (default: 0); faster");
    text_option(app, "--limit", limit_, "MS",
                "End a program after this virtual time, and show where its threads are (default: no limit)");
    flag(app, "--uncharged", uncharged_, "Setup before the threads start takes no virtual time; faster");
    flag(app, "--check", check_, "Check the simulator itself at each access and each attempt's end; slower");
    flag(app, "--elide", elide_, "Elide the pthread locks of the program after --");
    text_option(app, "--policy", policy_, "POLICY",
                "Policy of the locks of the program after --: a name of txsync list policies, or a policy file");
    footer(app,
           "txsync sim --machine M [OPTION...] -- PROGRAM [ARGUMENT...] runs a program that txsync-c++ has built.\n"
           "It may have --seed, --slack, --limit, --check, --elide, --policy and --json. Standard input and output are "
           "the program's.\n"
           "Exit status: the program's own, or 128 plus the signal's number if a signal ended it.\n"
           "127: the program was not found. 126: it cannot be run. 1: the simulation cannot go on (deadlock, crash).\n"
           "The same machine, seed and build give the same result and the same end hash. All numbers are simulated:\n"
           "they are as good as the machine's model. txsync list machines --json prints the model with its sources.");
  }

  bool takes_program() const override { return true; }

  int run(session& with) override {
    if (!with.program.empty()) {
      const simulate::program_request request = checked_program(with.program);
      with.document.seed = request.seed;
      with.document.machine = simulate::machine_object(request.machine);
      with.document.started.clear();
      return simulate::run_program(with.document, request);
    }
    const simulate::sim_request request = checked_request();
    with.document.seed = request.bench.plan.seed;
    with.document.machine = simulate::machine_object(request.machine);
    with.document.started.clear();
    print_heading(with.table, request.bench, request.machine.name + ", simulated: " + request.machine.title);
    measure::bench_result result = simulate::simulate(request);
    print_table(with.table, request.bench, result);
    simulate::print_attempts(with.table, result);
    simulate::print_abort_places(with.table, result);
    std::fflush(with.table);
    const int status = report_faults(name(), result);
    with.document.interrupted = result.interrupted;
    with.document.points = std::move(result.points);
    return status;
  }

 private:
  simulate::program_request checked_program(const words& command) const {
    const measure::bench_options& wrong = options_;
    if (!wrong.workload.empty() || !wrong.settings.empty() || wrong.preset || wrong.locks || wrong.threads ||
        wrong.placement || wrong.repeat || wrong.duration || wrong.operations || uncharged_) {
      throw bad_input(
          "wrong option for a program after --; allowed: --machine, --seed, --slack, --limit, --check, --elide, "
          "--policy, --json");
    }
    simulate::program_request request;
    request.machine = simulate::checked_machine(machine_);
    request.machine_word = machine_.value_or("");
    request.command = command;
    request.seed = number_of("--seed", options_.seed, 0, std::numeric_limits<std::uint64_t>::max(), 1);
    request.slack_cycles = number_of("--slack", slack_, 0, max_slack_cycles, 0);
    request.limit_ms = number_of("--limit", limit_, 1, max_limit_ms, 0);
    request.oracle = check_;
    request.elides = elide_;
    if (policy_) put_policy(request, *policy_);
    return request;
  }

  void put_policy(simulate::program_request& request, const std::string& word) const {
    if (elide_) throw bad_input("--elide and --policy both say what the locks do; allowed: one of the two");
    request.policy_word = word;
    try {
      request.policy = policy::load_policy(word);
    } catch (const policy::policy_error& error) {
      throw bad_input("--policy: " + std::string(error.what()));
    }
  }

  simulate::sim_request checked_request() const {
    if (elide_) throw bad_input("--elide is for a program after --; workloads have elided locks (--lock)");
    if (policy_) throw bad_input("--policy is for a program after --; workloads have locks by name (--lock)");
    if (limit_) throw bad_input("--limit is for a program after --; workloads have a --duration");
    simulate::sim_request request;
    request.machine = simulate::checked_machine(machine_);
    request.machine_word = machine_.value_or("");
    try {
      request.image = sim::image_file("workloads");
    } catch (const sim::image_error& error) {
      throw bad_input(error.what());
    }
    const sim::machine_model& model = request.machine.model;
    request.bench = measure::checked(options_, {model.hardware_threads(), model.core_sockets, true});
    request.slack_cycles = number_of("--slack", slack_, 0, max_slack_cycles, 0);
    request.uncharged_set_up = uncharged_;
    request.oracle = check_;
    return request;
  }

  measure::bench_options options_;
  std::optional<std::string> machine_;
  std::optional<std::string> slack_;
  std::optional<std::string> limit_;
  std::optional<std::string> policy_;
  bool uncharged_ = false;
  bool check_ = false;
  bool elide_ = false;
};

}  // namespace

std::unique_ptr<verb> make_sim() { return std::make_unique<sim_verb>(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
