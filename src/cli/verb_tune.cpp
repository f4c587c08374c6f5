// SPDX-License-Identifier: Apache-2.0
// txsync tune: which locks make a program faster, and is that sure?
#include <fmt/core.h>

#include <txsync/machine/cpu.hpp>

#include "base/bad_input.hpp"
#include "base/print.hpp"
#include "base/stop_on_signal.hpp"
#include "base/words.hpp"
#include "cli/options.hpp"
#include "cli/tune_table.hpp"
#include "cli/verbs.hpp"
#include "doctor/machine_object.hpp"
#include "observe/document/output.hpp"
#include "observe/document/printable.hpp"
#include "policy/policy.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "simulate/simulate.hpp"
#include "tune/program.hpp"
#include "tune/request.hpp"
#include "tune/simulated.hpp"
#include "tune/workload_trial.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::bad_input;
using base::stop_on_signal;
using base::words;

namespace {

double seconds_now() { return static_cast<double>(machine::clock_ns()) * 1e-9; }

/// Opens a file for the end of the run, so that a file that cannot be written is reported before the run.
std::unique_ptr<observe::output> opened(const char* option, const std::optional<std::string>& file) {
  if (!file) return nullptr;
  try {
    return std::make_unique<observe::output>(*file);
  } catch (const observe::output_error& error) {
    throw bad_input(fmt::format("{}: {}", option, error.what()));
  }
}

/// The lock of policy files that corresponds to a workload's lock; `unset` if none does.
policy::lock_kind like(const std::string& lock) {
  if (lock == "pthread_mutex") return policy::lock_kind::libc;
  const std::string name = lock.substr(lock.rfind(':') + 1);  // "mutex" of "txsync::mutex"
  const std::optional<policy::policy_set> named = policy::find_named(name);
  return named ? named->defaults.lock : policy::lock_kind::unset;
}

class tune_verb final : public verb {
 public:
  const char* name() const override { return "tune"; }
  const char* summary() const override { return "Find the locks that make a program faster, and prove it"; }

  void define(CLI::App& app) override {
    argument(app, "WORKLOAD", options_.what, "A built-in workload with KEY=VALUE parameters, or -- PROGRAM ARGUMENTS");
    text_option(app, "--metric", options_.metric, "REGEX",
                "Compare the number that the one group of REGEX finds in the output, not wall time; higher is better");
    flag(app, "--lower-is-better", options_.lower_is_better, "Lower numbers of --metric are better");
    text_option(app, "--machine", options_.machine, "NAME|FILE",
                "Tune a program of txsync-c++ on this simulated machine; txsync list machines prints all");
    text_option(app, "--input", options_.input, "FILE",
                "What each run of a program reads from its standard input (default: nothing)");
    text_option(app, "-o,--output", options_.policy, "FILE",
                "Write the policy that was proven better; if none was, the one that keeps what you have");
    text_option(app, "--report", options_.page, "FILE", "Also write the page of txsync report");
    text_option(
        app, "--from", options_.from, "POLICY",
        "What you have: a policy or its file (default: unmodified); of a workload a lock (default: pthread_mutex)");
    text_option(app, "--candidates", options_.candidates, "NAME,...",
                "Policies or their files (default: all but fifo-ticket, tatas, as-mutex); of a workload locks "
                "(default: all of txsync)");
    text_option(app, "--rounds", options_.rounds, "N", "Rounds of each comparison, at least 6 (default: 10)");
    text_option(app, "--time", options_.time, "SECONDS", "Time limit of the whole command (default: no limit)");
    text_option(app, "--threads", options_.threads, "N",
                "Of a workload: number of threads (default: the CPUs, at least 2)");
    text_option(app, "--duration", options_.duration, "MS", "Of a workload: milliseconds per run (default: 100)");
    text_option(app, "--seed", options_.seed, "N",
                "Of a workload: seed of all random choices; with --machine: of the first run, each further run adds 1 "
                "(default: 1)");
    footer(app,
           "The winner is proven in fresh rounds. If nothing wins, the advice is to keep what you have.\n"
           "Ctrl-C stops after the current run. Its results so far are printed and written; the exit status is 1.");
  }

  bool takes_program() const override { return true; }

  int run(session& with) override {
    tune::tune_request request = tune::checked(options_, with.program);
    const auto policy_file = opened("--output", options_.policy);
    const auto page_file = opened("--report", options_.page);
    if (request.bench) with.document.seed = request.bench->plan.seed;
    if (request.machine) {
      with.document.seed = request.seed;
      with.document.machine = simulate::machine_object(*request.machine);
    }
    const tune::outcome found = request.bench     ? tuned_workload(request)
                                : request.machine ? tuned_simulated(request)
                                                  : tuned_program(request);
    if (found.phases.empty() && !found.broken.empty()) {
      base::print(stderr, "txsync tune: '{}' cannot be measured: {}\n", observe::printable(request.described.workload),
                  found.broken);
    } else {
      print_table(with.table, found, request.described);
    }
    const bool known = found.broken.empty() && !found.interrupted;
    const std::string policy = found.proven ? policy_text(request, found, with.document)
                               : known      ? keeping_text(request, found, with.document)
                                            : std::string();
    tune::put(with.document, found, request.described, policy);
    write_policy(policy_file.get(), policy);
    write_page(page_file.get(), with);
    return found.broken.empty() && !found.interrupted ? ok : failed;
  }

 private:
  static tune::outcome tuned(tune::trial& runs, const tune::tune_request& request,
                             const std::function<bool()>& also_stop) {
    const stop_on_signal guard;
    tune_progress line;
    const double started = seconds_now();
    tune::environment world{seconds_now, [&] { return stop_on_signal::asked() || also_stop(); },
                            [&](const tune::progress& now) { line.show(now, seconds_now() - started); },
                            [&](const tune::expected_time& time) {
                              if (const std::string words = expectation_words(time); !words.empty()) line.log(words);
                            }};
    return tune::tune(runs, request.asked, world);
  }

  tune::outcome tuned_workload(const tune::tune_request& request) {
    const auto& bench = request.bench;
    if (!bench) return {};
    tune::workload_trial runs(*bench->workload, bench->values, bench->plan);
    return tuned(runs, request, [] { return false; });
  }

  /// All policies that runs may need.
  static words policies_of(const tune::tune_request& request) {
    words names = request.asked.candidates;
    if (!request.asked.site_base.empty()) names.push_back(request.asked.site_base);
    if (!request.asked.counted_reference.empty()) names.push_back(request.asked.counted_reference);
    return names;
  }

  tune::outcome tuned_simulated(tune::tune_request& request) {
    const auto& machine = request.machine;
    if (!machine) return {};
    try {
      simulated_ = std::make_unique<tune::simulated_trial>(
          tune::simulated_program{simulate::simulated_program(request.command),
                                  {request.command.begin() + 1, request.command.end()},
                                  machine->model,
                                  request.seed},
          request.metric, policies_of(request), stop_on_signal::asked);
    } catch (const policy::policy_error& error) {
      throw bad_input(error.what());
    } catch (const launch::cannot_start& error) {
      throw bad_input(error.what());
    }
    tune::outcome found = tuned(*simulated_, request, [] { return false; });
    request.described.threads = simulated_->threads();
    return found;
  }

  tune::outcome tuned_program(tune::tune_request& request) {
    try {
      program_ =
          std::make_unique<tune::program_trial>(request.command, request.metric, policies_of(request), request.input);
    } catch (const policy::policy_error& error) {
      throw bad_input(error.what());
    } catch (const launch::cannot_start& error) {
      throw bad_input(error.what());
    }
    const tune::program_trial& program = *program_;
    tune::outcome found = tuned(*program_, request, [&program] { return program.interrupted(); });
    request.described.threads = program.threads();
    request.described.warnings = program.warnings();
    request.described.crowd = program.crowd();
    return found;
  }

  /// What was measured, when, and how to use it: the heading of the policy file.
  static std::string heading(const tune::tune_request& request, const tune::outcome& found,
                             const observe::document& document) {
    const std::string machine = request.machine
                                    ? fmt::format("{}, simulated: {}", request.machine->name, request.machine->title)
                                    : doctor::machine_line(doctor::collect());
    std::string text = fmt::format(
        "Made by txsync tune ({}, commit {}), {}.\n"
        "Command: {}\n"
        "Machine: {}\n"
        "Measured: {}, {}. {}\n",
        document.tool.version, document.tool.commit, document.started, report::shell_line(document.command), machine,
        request.described.metric, request.described.unit, tune::verdict_words(found, request.described));
    for (const std::string& warning : request.described.warnings)
      text += fmt::format("The verdict may be worth nothing: {}.\n", warning);
    if (request.bench) return text + fmt::format("The best lock of the workload was {}.\n", found.best.candidate);
    const std::string verb =
        request.machine ? "sim --machine " + report::shell_line({request.machine_word}) : std::string("run");
    return text + fmt::format("Use: txsync {} --policy FILE -- {}{}\n", verb, report::shell_line(request.command),
                              request.input ? " < " + report::shell_line({*request.input}) : "");
  }

  std::string policy_text(const tune::tune_request& request, const tune::outcome& found,
                          const observe::document& document) const {
    std::string words = heading(request, found, document);
    if (!request.bench) {
      const std::optional<policy::policy_set> set = policy_of(found.best);
      if (!set) return {};  // the unmodified program was better than the reference: there is no policy for that
      return policy::to_toml(*set, words);
    }
    policy::policy_set set;
    if (const policy::lock_kind kind = like(found.best.candidate); kind != policy::lock_kind::unset) {
      set.defaults.lock = kind;
      words += "This policy gives it to an unmodified program: txsync run --policy FILE -- PROGRAM\n";
    } else {
      words += "Unmodified programs cannot have it; this policy is the built-in one.\n";
    }
    return policy::to_toml(set, words);
  }

  /// The text that keeps the reference: the policy of --from, or all locks left to the C library, and nothing counted.
  /// So a user of the file gets the result, even if that is to change nothing.
  std::string keeping_text(const tune::tune_request& request, const tune::outcome& found,
                           const observe::document& document) const {
    if (request.bench) return {};
    policy::policy_set set;
    if (const std::optional<policy::policy_set> had = policy_of(found.reference)) {
      set = *had;
    } else {
      set.defaults = {policy::lock_kind::libc,   policy::rwlock_kind::libc, policy::spinlock_kind::libc, false,
                      policy::elision_kind::off, policy::warm_up_kind::off};
    }
    return policy::to_toml(set, heading(request, found, document));
  }

  std::optional<policy::policy_set> policy_of(const tune::configuration& config) const {
    return simulated_ ? simulated_->policy_of(config) : program_->policy_of(config);
  }

  void write_policy(observe::output* file, const std::string& policy) const {
    if (file == nullptr) return;
    if (policy.empty()) {
      std::fputs("txsync tune: no policy was written\n", stderr);
    } else {
      file->write(policy);
    }
  }

  static void write_page(observe::output* file, const session& with) {
    if (file == nullptr) return;
    observe::document document = with.document;
    if (document.machine.empty()) document.machine = doctor::machine_object(doctor::collect());
    file->write(report::page(
        {report::read("(written with this page)",
                      observe::to_json(document).dump(-1, ' ', false, observe::json::error_handler_t::replace))}));
  }

  tune::tune_options options_;
  std::unique_ptr<tune::program_trial> program_;
  std::unique_ptr<tune::simulated_trial> simulated_;
};

}  // namespace

std::unique_ptr<verb> make_tune() { return std::make_unique<tune_verb>(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
