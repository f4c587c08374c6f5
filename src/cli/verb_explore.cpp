// SPDX-License-Identifier: Apache-2.0
// txsync explore TEST, or -- PROGRAM: runs one schedule after the other, until one fails.
#include <chrono>
#include <filesystem>
#include <limits>
#include <sstream>

#include <fmt/core.h>

#include "base/bad_input.hpp"
#include "base/print.hpp"
#include "base/stop_on_signal.hpp"
#include "base/words.hpp"
#include "cli/explore_table.hpp"
#include "cli/options.hpp"
#include "cli/verbs.hpp"
#include "simulate/explore.hpp"
#include "symbols/code_place.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::bad_input;
using base::number_of;
using base::stop_on_signal;
using base::words;

namespace {

constexpr std::uint64_t max_schedules = 1'000'000'000;
constexpr std::uint64_t max_shorten_s = 86'400;

class explore_verb final : public verb {
 public:
  const char* name() const override { return "explore"; }
  const char* summary() const override { return "Run a test or a program in many schedules on the simulated machine"; }

  void define(CLI::App& app) override {
    argument(app, "TEST", tests_, "Tests to explore (default: all); txsync list tests prints all");
    text_option(app, "--schedules", schedules_, "N",
                "Schedules per test (default: 100000) or of a program (default: 1000)");
    text_option(app, "--seed", seed_, "N", "Seed of the first schedule; each further schedule adds 1 (default: 1)");
    text_option(
        app, "--order", order_, "ORDER",
        "random (default of tests), priorities, delay-bounded, partial-order, uniform-walk (default of a program: "
        "these five in turn), round-robin, systematic (of a program: each execution once)");
    flag(app, "--store-buffers", store_buffers_, "Stores wait in store buffers, as on x86");
    text_option(app, "--probe", probes_, "LIST",
                "spurious-aborts, tight-capacity, weak-exchanges, spurious-wakes, late-subscription");
    text_option(app, "--machine", machine_, "MACHINE",
                "Of a program: the machine whose hardware transactions it has (default: ideal)");
    flag(app, "--races", races_, "Of a program: a data race is a fault, too");
    text_option(app, "--shorten", shorten_, "SECONDS",
                "Of a program: after a failure, look so long for one with fewer switches between threads");
    text_option(
        app, "--steps", steps_, "N",
        "Maximum steps per schedule of a program; a longer one is a livelock (default: 20 times its first run)");
    footer(
        app,
        "txsync explore [OPTIONS] -- PROGRAM [ARGUMENT...] explores a program that txsync-c++ has built.\n"
        "Each schedule is one run of it, without standard input and output. Exit status 0 means that the run passed.\n"
        "Tests named seeded:... contain a fault that the exploration has to find.\n"
        "A failed schedule has a key. txsync replay KEY repeats the schedule and shows the steps of each thread.\n"
        "Exit status 1: a test failed that should pass, or a seeded fault was not found. 130: ended by Ctrl-C.");
  }

  bool takes_program() const override { return true; }

  int run(session& with) override {
    const std::uint64_t seed = number_of("--seed", seed_, 0, std::numeric_limits<std::uint64_t>::max(), 1);
    with.document.seed = seed;
    if (!with.program.empty()) return explore_given_program(with, seed);
    if (steps_ || machine_ || shorten_) throw bad_input("--steps, --machine and --shorten are for a program after --");
    const simulate::schedule_kind kind = checked_kind(order_.value_or("random"));
    if (kind.races || kind.order == sim::schedule_order::systematic)
      throw bad_input("--races and --order systematic are for a program after --");
    const std::vector<simulate::exploration_test> chosen = chosen_tests();
    const std::uint64_t schedules = number_of("--schedules", schedules_, 1, max_schedules, 100'000);
    simulate::begin_document(with.document, {{kind}, schedules, simulate::max_test_steps},
                             simulate::machine_of_tests());
    print_heading(with.table);
    int status = ok;
    const stop_on_signal guard;
    for (const simulate::exploration_test& test : chosen) {
      if (stop_on_signal::asked()) break;
      const simulate::exploration_result result = simulate::explore_test(test, {test.name, kind, seed}, schedules);
      print_result(with.table, result);
      // A run that the user ends is left out; it is not wrong. A signal may arrive at any moment of an image, even at
      // its start.
      if (!result.error.empty() && stop_on_signal::asked_soon()) break;
      if (!result.right) status = failed;
      simulate::add_to_document(with.document, result);
    }
    with.document.interrupted = with.document.points.size() != chosen.size();
    return with.document.interrupted && status == ok ? stop_on_signal::status() : status;
  }

 private:
  /// The order, with the modes that the options add.
  simulate::schedule_kind checked_kind(const std::string& order) const {
    simulate::schedule_kind kind = simulate::parse_kind(order);
    kind.store_buffers = kind.store_buffers || store_buffers_;
    kind.races = kind.races || races_;
    std::istringstream probes(probes_.value_or(""));
    for (std::string one; std::getline(probes, one, ',');) kind.add(one);
    return kind;
  }
  std::vector<simulate::exploration_test> chosen_tests() const {
    std::vector<simulate::exploration_test> all = simulate::exploration_tests();
    if (std::error_code unknown; !tests_.empty() && std::filesystem::is_regular_file(tests_.front(), unknown))
      throw bad_input(fmt::format("'{0}' is a file; allowed for a program: txsync explore -- {0}", tests_.front()));
    if (all.empty()) throw bad_input(simulate::no_tests);
    if (tests_.empty()) return all;
    words names;
    for (const simulate::exploration_test& one : all) names.push_back(one.name);
    std::vector<simulate::exploration_test> chosen;
    for (const std::string& name : tests_) {
      const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
      if (found == all.end()) throw bad_input(simulate::unknown_test(name, names));
      chosen.push_back(*found);
    }
    return chosen;
  }

  int explore_given_program(session& with, std::uint64_t seed) const {
    if (!tests_.empty())
      throw bad_input(fmt::format("a program after -- is explored alone; remove '{}'", tests_.front()));
    simulate::program_exploration what = simulate::program_to_explore(with.program, machine_);
    what.has_default_steps = !steps_;
    what.max_steps = number_of("--steps", steps_, 1, simulate::max_program_steps, simulate::min_default_steps);
    simulate::exploration_plan plan{.schedules = number_of("--schedules", schedules_, 1, max_schedules, 1'000),
                                    .steps = what.max_steps,
                                    .shorten_s = number_of("--shorten", shorten_, 1, max_shorten_s, 0)};
    for (const sim::schedule_order order : sim::orders_of_programs) {
      if (!order_) plan.kinds.push_back(checked_kind(sim::name_of(order)));
    }
    if (order_) plan.kinds.push_back(checked_kind(*order_));
    const stop_on_signal guard;
    try {
      simulate::look_at_program(what, plan, !probes_);
      simulate::begin_document(with.document, plan, what.machine);
      const simulate::exploration_result result = simulate::explore_program(what, plan, seed);
      print_heading(with.table);
      print_result(with.table, result);
      if (result.schedules != 0) simulate::add_to_document(with.document, result);
      with.document.interrupted = stop_on_signal::asked();
      if (plan.kinds.front().races && result.races_unseen != 0)
        base::print(stderr, "txsync explore: in {} schedules, races were looked for only until there was {}\n",
                    result.races_unseen, "an attempt, a 129th thread, or no memory for more accesses");
      if (result.has_own_explorations)
        base::print(stderr, "txsync explore: {} explores parts of itself by txsync::explore(), here once each; {}{}\n",
                    result.subject, "start it without txsync explore: ", base::command_line(with.program));
      if (!result.right) return failed;
      if (!with.document.interrupted) return ok;
      const std::string where = symbols::with_places(symbols::module_symbols(what.path), result.ended_in);
      base::print(stderr, "txsync explore: interrupted after {} of {} schedules{}{}\n", result.schedules,
                  plan.schedules, where.empty() ? "" : "; in one of them:", where);
      return stop_on_signal::status();
    } catch (const sim::image_error& error) {
      with.document.interrupted = stop_on_signal::asked_soon();
      const std::string why = symbols::with_places(symbols::module_symbols(what.path), error.what());
      // The signal may have ended the image before this program has asked for its end.
      const bool says_so = !with.document.interrupted || why.find("interrupted") != std::string::npos;
      base::print(stderr, "txsync explore: {}: {}{}\n", what.name, says_so ? "" : "interrupted; ", why);
      if (!with.document.interrupted)
        simulate::add_to_document(
            with.document, {.subject = what.name, .order = plan.text(), .right = false, .key = {}, .error = why});
      return with.document.interrupted ? stop_on_signal::status() : failed;
    }
  }

  words tests_;
  std::optional<std::string> schedules_;
  std::optional<std::string> seed_;
  std::optional<std::string> steps_;
  std::optional<std::string> order_;
  bool store_buffers_ = false;
  bool races_ = false;
  std::optional<std::string> probes_;
  std::optional<std::string> machine_;
  std::optional<std::string> shorten_;
};

}  // namespace

std::unique_ptr<verb> make_explore() { return std::make_unique<explore_verb>(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
