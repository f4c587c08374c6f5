// SPDX-License-Identifier: Apache-2.0
// txsync bench WORKLOAD: a built-in workload on this machine, over several locks.
#include "cli/bench.hpp"
#include "cli/verbs.hpp"
#include "doctor/machine_object.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

class bench_verb final : public verb {
 public:
  const char* name() const override { return "bench"; }
  const char* summary() const override { return "Measure locks under a built-in workload on this machine"; }

  void define(CLI::App& app) override {
    // By function: CLI11 takes an empty text for an absent option.
    using text = std::optional<std::string>;
    const auto option = [&app](const char* name, text& into, const char* type, const char* words) {
      const auto store = [&into](const std::string& value) { into = value; };
      app.add_option_function<std::string>(name, store, words)->type_name(type);
    };
    app.add_option("WORKLOAD", options_.workload, "What to run; txsync list workloads names them and their parameters")
        ->type_name("");
    app.add_option("KEY=VALUE", options_.settings, "Parameters of the workload; numbers may end in K, M, G, Ki, Mi, Gi")
        ->type_name("");
    option("--preset", options_.preset, "NAME", "Parameters under a name; KEY=VALUE changes single ones");
    option("--lock", options_.locks, "LOCK,...",
           "Which locks (all but the one called none); txsync list locks names them");
    option("--threads", options_.threads, "N,...", "Numbers of threads (1, the CPUs, twice the CPUs)");
    option("--place", options_.place, "PLACE", "Where: cores-first (default), smt-first, socket=N, none (not pinned)");
    option("--repeat", options_.repeat, "N", "Repetitions, interleaved over the locks (5)");
    option("--duration", options_.duration, "MS", "Milliseconds of each repetition (100); a tenth more runs before it");
    option("--operations", options_.operations, "N", "Operations a thread instead of a duration");
    option("--seed", options_.seed, "N", "Seed of all random choices (1)");
    option("--sample", options_.sample, "N", "Also measure the latency of every N-th operation");
    app.add_flag("--sites", options_.sites, "Also print what the lock sites counted");
    app.footer(
        "Every run ends with a check of its result; a lock that fails it is named and makes the exit status 1.\n"
        "Ctrl-C ends after the run that is going on: what was measured is printed and written, the exit status is 1.");
  }

  int run(session& with) override {
    const bench_request request = checked(options_, native_surroundings());
    with.document.seed = request.plan.seed;
    print_heading(with.table, request, doctor::machine_line(doctor::collect()));
    bench_result result = measure(request);
    print_table(with.table, request, result);
    if (options_.sites) print_sites(with.table, result);
    std::fflush(with.table);
    const int status = report(result);
    with.document.interrupted = result.interrupted;
    with.document.points = std::move(result.points);
    return status;
  }

 private:
  /// What went wrong, on the standard error, and the exit status.
  static int report(const bench_result& result) {
    int status = ok;
    unsigned unpinned = 0;
    for (const observe::point& one : result.points) {
      unpinned = std::max(unpinned, one.unpinned);
      for (const std::string& fault : one.faults) {
        std::fprintf(stderr, "txsync bench: %s on %s at %u threads failed: %s\n", one.workload.c_str(),
                     one.subject.c_str(), one.threads, fault.c_str());
        status = failed;
      }
    }
    if (unpinned != 0) std::fprintf(stderr, "txsync bench: the system refused to pin up to %u threads\n", unpinned);
    if (result.interrupted) {
      std::fprintf(stderr, "txsync bench: interrupted after %u of %u runs\n", result.runs, result.planned);
      status = failed;
    }
    return status;
  }

  bench_options options_;
};

}  // namespace

std::unique_ptr<verb> make_bench() { return std::make_unique<bench_verb>(); }

}  // namespace txsync::inline TXSYNC_BACKEND::cli
