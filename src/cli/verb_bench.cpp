// SPDX-License-Identifier: Apache-2.0
// txsync bench WORKLOAD: a built-in workload on this machine, with several locks.
#include "cli/bench_table.hpp"
#include "cli/options.hpp"
#include "cli/verbs.hpp"
#include "doctor/machine_object.hpp"
#include "measure/measure.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

class bench_verb final : public verb {
 public:
  const char* name() const override { return "bench"; }
  const char* summary() const override { return "Measure locks with a built-in workload on this machine"; }

  void define(CLI::App& app) override {
    workload_arguments(app, options_.workload, options_.settings);
    text_option(app, "--preset", options_.preset, "NAME",
                "Start from the preset NAME; KEY=VALUE changes single parameters");
    text_option(app, "--lock", options_.locks, "LOCK,...",
                "Locks to measure (default: all but 'none'); txsync list locks prints all");
    text_option(app, "--threads", options_.threads, "N,...",
                "Numbers of threads (default: 1, the CPUs, twice the CPUs)");
    text_option(app, "--place", options_.placement, "PLACE",
                "CPUs of the threads: cores-first (default), smt-first, socket=N, none (not pinned)");
    text_option(app, "--repeat", options_.repeat, "N", "Repetitions, interleaved over the locks (default: 5)");
    text_option(app, "--duration", options_.duration, "MS",
                "Milliseconds per repetition (default: 100), after a run-in of a tenth of that");
    text_option(app, "--operations", options_.operations, "N", "Operations per thread, instead of a duration");
    text_option(app, "--seed", options_.seed, "N", "Seed of all random choices (default: 1)");
    text_option(app, "--sample", options_.sample, "N", "Also measure the latency of every N-th operation");
    flag(app, "--sites", options_.sites, "Also print the counts of the lock sites");
    footer(app,
           "After each repetition with several threads, a run half as long measures every wait.\n"
           "Each run checks its result. If a lock fails the check, its name is printed and the exit status is 1.\n"
           "Ctrl-C stops after the current run. Its results so far are printed and written; the exit status is 1.");
  }

  int run(session& with) override {
    const measure::bench_request request = measure::checked(options_, measure::native_environment());
    with.document.seed = request.plan.seed;
    print_heading(with.table, request, doctor::machine_line(doctor::collect()));
    measure::bench_result result = measure::measure(request);
    print_table(with.table, request, result);
    if (options_.sites) print_sites(with.table, result);
    std::fflush(with.table);
    const int status = report_faults(name(), result);
    with.document.interrupted = result.interrupted;
    with.document.points = std::move(result.points);
    return status;
  }

 private:
  measure::bench_options options_;
};

}  // namespace

std::unique_ptr<verb> make_bench() { return std::make_unique<bench_verb>(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
