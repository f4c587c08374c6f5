// SPDX-License-Identifier: Apache-2.0
// txsync sim WORKLOAD --machine M: a built-in workload on a simulated machine; or after -- a program of txsync-c++.
#include <limits>

#include "base/bad_input.hpp"
#include "base/words.hpp"
#include "cli/bench_table.hpp"
#include "cli/options.hpp"
#include "cli/verbs.hpp"
#include "simulate/simulate.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
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
    text_option(app, "--machine", machine_, "NAME|FILE", "The machine, needed; txsync list machines names them");
    text_option(app, "--preset", options_.preset, "NAME", "Parameters under a name; KEY=VALUE changes single ones");
    text_option(app, "--lock", options_.locks, "LOCK,...",
                "Which locks (all but those that speculate, or are simulated only); txsync list locks names them");
    text_option(app, "--threads", options_.threads, "N,...", "Numbers of threads (1, 2, 4, ... up to 16)");
    text_option(app, "--place", options_.place, "PLACE",
                "Where: cores-first (default), smt-first, socket=N, none (not pinned)");
    text_option(app, "--repeat", options_.repeat, "N", "Repetitions, each with a seed of its own (1)");
    text_option(app, "--duration", options_.duration, "MS",
                "Virtual milliseconds of each repetition (1); a tenth more runs before it");
    text_option(app, "--operations", options_.operations, "N", "Operations a thread instead of a duration");
    text_option(app, "--seed", options_.seed, "N", "Seed of all random choices (1)");
    text_option(app, "--slack", slack_, "CYCLES",
                "How far a thread may run ahead with accesses that concern nobody else (0); faster");
    text_option(app, "--limit", limit_, "MS",
                "Virtual milliseconds after which a program behind -- ends with where its threads are (none)");
    flag(app, "--uncharged", uncharged_, "What is set up before the threads start takes no time; faster");
    flag(app, "--check", check_, "Check the simulation itself at each access and each attempt's end; slower");
    flag(app, "--elide", elide_, "Elide the pthread locks of the program behind --");
    text_option(app, "--policy", policy_, "POLICY",
                "What the locks of the program behind -- do: a policy or its file; txsync list policies names them");
    footer(
        app,
        "txsync sim --machine M [--seed N] [--slack CYCLES] [--limit MS] [--check] [--elide] [--policy POLICY] -- "
        "PROGRAM [ARGUMENT...] runs a program that\n"
        "txsync-c++ has built, with this standard input and output, and exits with the program's own status: 128 and "
        "the\n"
        "signal's number when a signal ended it; 127 when it was not found, 126 when it cannot be run, 1 when the "
        "simulation\n"
        "cannot go on (deadlock, crash).\n"
        "The same machine, seed and build give the same result, and the same end hash. All numbers are of the "
        "simulated\n"
        "machine: they are as good as its model, which txsync list machines --json shows with its sources.");
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
        wrong.place || wrong.repeat || wrong.duration || wrong.operations || uncharged_) {
      throw bad_input(
          "a program behind -- takes --machine, --seed, --slack, --limit, --check, --elide, --policy and --json only");
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
    if (elide_) throw bad_input("--elide is for a program behind --; workloads have elided locks (--lock)");
    if (policy_) throw bad_input("--policy is for a program behind --; workloads have locks by name (--lock)");
    if (limit_) throw bad_input("--limit is for a program behind --; workloads have a --duration");
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

}  // namespace txsync::inline TXSYNC_BACKEND::cli
