// SPDX-License-Identifier: Apache-2.0
// txsync replay KEY [-- PROGRAM]: repeats one schedule, with every step.
#include <utility>

#include <fmt/core.h>

#include "base/bad_input.hpp"
#include "base/print.hpp"
#include "base/words.hpp"
#include "cli/options.hpp"
#include "cli/verbs.hpp"
#include "simulate/explore.hpp"
#include "simulate/interleaving.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::bad_input;
using base::number_of;
using base::words;

namespace {

class replay_verb final : public verb {
 public:
  const char* name() const override { return "replay"; }
  const char* summary() const override {
    return "Repeat one schedule of txsync explore, and show the steps of each thread";
  }

  void define(CLI::App& app) override {
    argument(app, "KEY", key_, "TEST@ORDER[+MODE]@SEED, as txsync explore prints it");
    text_option(app, "--steps", steps_, "N",
                "Maximum steps of a program's schedule; a longer one is a livelock (default: 20 times its first run)");
    text_option(app, "--machine", machine_, "MACHINE", "As txsync explore was given it");
    flag(app, "--all", all_,
         "Of a program's schedule, show each step: also at memory of one thread, and within the library");
    flag(app, "--gdb", gdb_, "Of a program: run the schedule in gdb, up to the place where it fails");
    footer(app,
           "txsync replay KEY -- PROGRAM [ARGUMENT...] repeats a schedule of a program, as txsync explore prints it.\n"
           "A line has a thread's steps in one line of the source, at memory that several threads use.\n"
           "Exit status 1: the schedule failed again.");
  }

  bool takes_program() const override { return true; }

  int run(session& with) override {
    const simulate::schedule_key key = simulate::parse_key(key_);
    with.document.seed = key.seed;
    const bool is_program = !with.program.empty();
    if ((steps_ || machine_ || all_ || gdb_) && !is_program)
      throw bad_input("--steps, --machine, --all and --gdb are for a program after --");
    if (!is_program) simulate::check_test(key);
    sim::image_request request;
    sim::image_result seen;
    try {
      const std::uint64_t steps = number_of("--steps", steps_, 1, simulate::max_program_steps, 0);
      request = is_program ? simulate::repeated_schedule(key, with.program, machine_, steps)
                           : simulate::exploration_request(key, 1);
      if (gdb_) sim::debug_image(request);
      request.traces = true;
      seen = sim::run_image(request);
      simulate::check_that_it_ran(seen, request);
    } catch (const sim::image_error& error) {
      throw bad_input(error.what());
    }
    simulate::print_interleaving(with.table, request.path, seen, is_program && !all_);
    if (request.captures_output) base::print(with.table, "\n{}", std::exchange(seen.messages, ""));
    if (seen.status == 0 && seen.signal == 0) {
      std::fputs("\nnothing was wrong\n", with.table);
      return ok;
    }
    const std::string wrong =
        is_program ? simulate::complaint_of_schedule(seen, request.path) : simulate::complaint_of(seen, request.path);
    base::print(with.table, "\n{}\n", wrong);
    return failed;
  }

 private:
  std::string key_;
  std::optional<std::string> steps_;
  std::optional<std::string> machine_;
  bool all_ = false;
  bool gdb_ = false;
};

}  // namespace

std::unique_ptr<verb> make_replay() { return std::make_unique<replay_verb>(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
