// SPDX-License-Identifier: Apache-2.0
// txsync sim WORKLOAD --machine M: a built-in workload on a simulated machine.
#include "cli/sim.hpp"
#include "cli/verbs.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

constexpr std::uint64_t most_slack = 10'000;

class sim_verb final : public verb {
 public:
  const char* name() const override { return "sim"; }
  const char* summary() const override { return "Run a built-in workload on a simulated machine"; }

  void define(CLI::App& app) override {
    using text = std::optional<std::string>;
    const auto option = [&app](const char* name, text& into, const char* type, const char* words) {
      const auto store = [&into](const std::string& value) { into = value; };
      app.add_option_function<std::string>(name, store, words)->type_name(type);
    };
    app.add_option("WORKLOAD", options_.workload, "What to run; txsync list workloads names them and their parameters")
        ->type_name("");
    app.add_option("KEY=VALUE", options_.settings, "Parameters of the workload; numbers may end in K, M, G, Ki, Mi, Gi")
        ->type_name("");
    option("--machine", machine_, "NAME|FILE", "The machine, needed; txsync list machines names them");
    option("--preset", options_.preset, "NAME", "Parameters under a name; KEY=VALUE changes single ones");
    option("--lock", options_.locks, "LOCK,...",
           "Which locks (all but the elided ones); elided_tatas, elided_mcs, ...");
    option("--threads", options_.threads, "N,...", "Numbers of threads (1, 2, 4, ... up to 16)");
    option("--place", options_.place, "PLACE", "Where: cores-first (default), smt-first, socket=N, none (not pinned)");
    option("--repeat", options_.repeat, "N", "Repetitions, each with a seed of its own (1)");
    option("--duration", options_.duration, "MS",
           "Virtual milliseconds of each repetition (1); a tenth more runs before it");
    option("--operations", options_.operations, "N", "Operations a thread instead of a duration");
    option("--seed", options_.seed, "N", "Seed of all random choices (1)");
    option("--slack", slack_, "CYCLES",
           "How far a thread may run ahead with accesses that concern nobody else (0); faster");
    app.add_flag("--check", check_, "Check the simulation itself at each access and each attempt's end; slower");
    app.footer(
        "The same machine, seed and build give the same result, and the same end hash. All numbers are of the "
        "simulated\n"
        "machine: they are as good as its model, which txsync list machines --json shows with its sources.");
  }

  int run(session& with) override {
    const sim_request request = checked_request();
    with.document.seed = request.bench.plan.seed;
    with.document.machine = machine_object(request.machine);
    with.document.started.clear();
    print_heading(with.table, request.bench, request.machine.name + ", simulated: " + request.machine.title);
    bench_result result = simulate(request);
    print_table(with.table, request.bench, result);
    print_attempts(with.table, result);
    print_abort_places(with.table, result);
    std::fflush(with.table);
    const int status = report(result);
    with.document.interrupted = result.interrupted;
    with.document.points = std::move(result.points);
    return status;
  }

 private:
  sim_request checked_request() const {
    sim_request request;
    try {
      std::string names;
      for (const std::string& name : sim::machine_names()) names += (names.empty() ? "" : ", ") + name;
      if (!machine_) throw bad_input("--machine is missing; allowed: " + names + ", or a machine file (./NAME.toml)");
      request.machine = sim::load_machine(*machine_);
      request.image = sim::image_file("workloads");
    } catch (const sim::machine_error& error) {
      throw bad_input(error.what());
    } catch (const sim::image_error& error) {
      throw bad_input(error.what());
    }
    const sim::machine_model& model = request.machine.model;
    request.bench = checked(options_, {model.hardware_threads(), model.core_sockets, true});
    request.slack_cycles = slack();
    request.oracle = check_;
    return request;
  }

  std::uint64_t slack() const {
    std::uint64_t value = 0;
    if (slack_ && !parse_number(*slack_, most_slack, value)) {
      throw bad_input("--slack: '" + *slack_ + "' is not a number from 0 to " + std::to_string(most_slack));
    }
    return value;
  }

  static int report(const bench_result& result) {
    int status = ok;
    for (const observe::point& one : result.points) {
      for (const std::string& fault : one.faults) {
        std::fprintf(stderr, "txsync sim: %s on %s at %u threads failed: %s\n", one.workload.c_str(),
                     one.subject.c_str(), one.threads, fault.c_str());
        status = failed;
      }
    }
    if (result.interrupted) {
      std::fprintf(stderr, "txsync sim: interrupted after %u of %u runs\n", result.runs, result.planned);
      status = failed;
    }
    return status;
  }

  bench_options options_;
  std::optional<std::string> machine_;
  std::optional<std::string> slack_;
  bool check_ = false;
};

}  // namespace

std::unique_ptr<verb> make_sim() { return std::make_unique<sim_verb>(); }

}  // namespace txsync::inline TXSYNC_BACKEND::cli
