// SPDX-License-Identifier: Apache-2.0
// txsync explore TEST: schedule after schedule of a test, until one fails.
#include <chrono>
#include <limits>
#include <sstream>

#include "cli/explore.hpp"
#include "cli/options.hpp"
#include "cli/stop_on_signal.hpp"
#include "cli/verbs.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

constexpr std::uint64_t most_schedules = 1'000'000'000;

class explore_verb final : public verb {
 public:
  const char* name() const override { return "explore"; }
  const char* summary() const override { return "Run a test in many orders of execution, on the simulated machine"; }

  void define(CLI::App& app) override {
    argument(app, "TEST", tests_, "Which (all); txsync list tests names them");
    text_option(app, "--schedules", schedules_, "N", "How many of each test (100000)");
    text_option(app, "--seed", seed_, "N", "Seed of the first schedule; each has the next one (1)");
    text_option(app, "--order", order_, "ORDER", "random (default), priorities, delay-bounded, round-robin");
    flag(app, "--store-buffers", store_buffers_, "Stores wait in buffers, as those of x86 do");
    text_option(app, "--probe", probes_, "LIST",
                "spurious-aborts, tight-capacity, weak-exchanges, spurious-wakes, late-subscription");
    footer(app,
           "Tests named seeded:... have a fault that exploring has to find. A schedule that fails has a key; txsync "
           "replay KEY\n"
           "runs it again and shows who did what. Exit status 1: a test failed that should not, or a fault was not "
           "found.");
  }

  int run(session& with) override {
    const std::vector<exploration_test> chosen = chosen_tests();
    schedule_kind kind = parse_kind(order_.value_or("random"));
    kind.store_buffers = kind.store_buffers || store_buffers_;
    std::istringstream probes(probes_.value_or(""));
    for (std::string one; std::getline(probes, one, ',');) kind.add(one);
    const std::uint64_t schedules = number_of("--schedules", schedules_, 1, most_schedules, 100'000);
    const std::uint64_t seed = number_of("--seed", seed_, 0, std::numeric_limits<std::uint64_t>::max(), 1);
    with.document.seed = seed;
    std::fprintf(with.table, "%-38s %12s %14s  %s\n", "test", "schedules", "a second", "found");
    int status = ok;
    const stop_on_signal guard;
    for (const exploration_test& test : chosen) {
      if (stop_on_signal::asked()) return failed;
      if (!explore(with, test, {test.name, kind, seed}, schedules)) status = failed;
    }
    return status;
  }

 private:
  std::vector<exploration_test> chosen_tests() const {
    std::vector<exploration_test> all = exploration_tests();
    if (all.empty()) throw bad_input("this txsync has no simulated machine");
    if (tests_.empty()) return all;
    words names;
    for (const exploration_test& one : all) names.push_back(one.name);
    std::vector<exploration_test> chosen;
    for (const std::string& name : tests_) {
      const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
      if (found == all.end()) throw bad_input(unknown_test(name, names));
      chosen.push_back(*found);
    }
    return chosen;
  }

  /// True when it came out as it should.
  static bool explore(session& with, const exploration_test& test, const schedule_key& first, std::uint64_t schedules) {
    const auto began = std::chrono::steady_clock::now();
    const sim::image_request request = exploration_request(first, schedules);
    sim::image_result seen;
    try {
      seen = sim::run_image(request);
      if (seen.signal != 0) throw sim::image_error(complaint_of(seen, request.path));
    } catch (const sim::image_error& error) {
      std::fprintf(with.table, "%-38s %s\n", test.name.c_str(), error.what());
      return false;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const bool failing = seen.status != 0;
    schedule_key key = first;
    key.seed = seen.number("program.failed");
    // The one before all others, which has the seed 0, may have failed already.
    const std::uint64_t until = key.seed >= first.seed ? key.seed - first.seed + 1 : 1;
    const std::uint64_t ran = failing ? until : schedules;
    const bool right = failing == test.has_to_fail(first.kind);
    std::string found = "nothing";
    if (failing) {
      found = complaint_of(seen, request.path) + "\n    txsync replay " + key.text();
    }
    std::fprintf(with.table, "%-38s %12llu %14.0f  %s%s\n", test.name.c_str(), static_cast<unsigned long long>(ran),
                 static_cast<double>(ran) / took.count(), right ? "" : "FAILED: ", found.c_str());
    std::fflush(with.table);
    observe::point point;
    point.workload = "explore";
    point.place = "none";
    point.subject = test.name;
    point.metric = "schedules";
    point.unit = "schedules";
    point.params["order"] = first.kind.text();
    point.params["found"] = failing ? "a fault" : "nothing";
    point.values = {static_cast<double>(ran)};
    if (failing) point.key = key.text();
    with.document.points.push_back(std::move(point));
    return right;
  }

  words tests_;
  std::optional<std::string> schedules_;
  std::optional<std::string> seed_;
  std::optional<std::string> order_;
  bool store_buffers_ = false;
  std::optional<std::string> probes_;
};

}  // namespace

std::unique_ptr<verb> make_explore() { return std::make_unique<explore_verb>(); }

}  // namespace txsync::inline TXSYNC_BACKEND::cli
