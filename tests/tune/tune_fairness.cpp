// SPDX-License-Identifier: Apache-2.0
// Policies that let a thread starve are refused, and no others: scripted programs whose waits and turns are known.
#include "tune/fairness.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "tune/engine.hpp"
#include "tune/record.hpp"

namespace observe = txsync::observe;
namespace tune = txsync::tune;
using observe::thread_turns;

namespace {

constexpr std::uint64_t ms = 1'000'000;

/// What the runs of a candidate show: how long they take, the longest wait at "hot", and the turns of its threads.
struct shown {
  double seconds = 1;
  std::uint64_t max_wait_ns = 0;
  std::vector<thread_turns> threads = {};
};

/// `of`: by candidate and number of its run, from 1. Of "unmodified" nothing is counted.
class served_program final : public tune::trial {
 public:
  std::map<std::string, std::function<shown(unsigned)>> of;
  std::map<std::string, unsigned> runs;
  std::string failing;
  double clock = 0;
  std::vector<thread_turns> at_shutdown = {};  ///< threads at a site that comes before "hot"

  tune::measured run(const tune::configuration& config, double) override {
    const std::string name = tune::name_of(config);
    const auto known = of.find(name);
    const shown now = known == of.end() ? shown{} : known->second(++runs[name]);
    if (known == of.end()) ++runs[name];
    tune::measured seen;
    seen.value = seen.seconds = now.seconds;
    if (name == failing) seen.failure = "exit status 3";
    clock += now.seconds;
    if (config.candidate == "unmodified") return seen;
    if (!at_shutdown.empty()) {
      observe::site_record before;
      before.name = "shutdown";
      before.kind = "mutex";
      before.by_thread = at_shutdown;
      seen.sites.push_back({before, {}});
    }
    observe::site_record record;
    record.name = "hot";
    record.kind = "mutex";
    record.acquisitions = 1000;
    record.max_wait_ns = now.max_wait_ns;
    record.wait_ns = now.max_wait_ns;
    record.by_thread = now.threads;
    seen.sites.push_back({record, {}});
    return seen;
  }

  tune::outcome tuned(std::vector<std::string> candidates, bool by_sites = false) {
    tune::question asked{.candidates = std::move(candidates), .site_base = "libc", .counted_reference = "libc"};
    asked.by_sites = by_sites;
    return tune::tune(*this, asked, {[this] { return clock; }, [] { return false; }});
  }
};

std::function<shown(unsigned)> always(shown what) {
  return [what](unsigned) { return what; };
}

const tune::arm& arm_of(const tune::outcome& found, std::size_t phase, std::size_t arm) {
  return found.phases.at(phase).arms.at(arm);
}

}  // namespace

TEST(tune_fairness, a_policy_whose_thread_waits_too_long_is_refused_though_it_is_faster) {
  served_program program;
  program.of["libc"] = always({1.0, 2 * ms});
  program.of["tatas"] = always({0.5, 3000 * ms});
  const auto found = program.tuned({"unmodified", "tatas"});
  EXPECT_EQ(found.best, found.reference);
  EXPECT_FALSE(found.proven);
  EXPECT_EQ(arm_of(found, 0, 1).status, tune::arm_status::refused);
  EXPECT_EQ(arm_of(found, 0, 1).ended_in, 4u);
  ASSERT_EQ(found.refused.size(), 1u);
  EXPECT_EQ(found.refused[0].reason, "a thread waited too long in 4 of 4 rounds: 3 s at hot, 2 ms under what you have");
  EXPECT_EQ(tune::verdict_words(found, {}),
            "Keep what you have: nothing that was tried is better, except what was refused: 'tatas'.");
  EXPECT_EQ(tune::refusal_words(found),
            std::vector<std::string>{"'tatas' was refused: " + found.refused[0].reason + "."});
}

TEST(tune_fairness, a_wait_must_exceed_both_bounds) {
  for (const auto& [wait, reference, refused] : {std::tuple{5 * ms, 1 * ms / 10, false},
                                                 {6 * ms, 1 * ms, true},
                                                 {100 * ms, 25 * ms, false},
                                                 {101 * ms, 25 * ms, true}}) {
    served_program program;
    program.of["libc"] = always({1.0, reference});
    program.of["mutex"] = always({0.5, wait});
    const auto found = program.tuned({"unmodified", "mutex"});
    EXPECT_EQ(found.refused.size(), refused ? 1u : 0u) << wait << " beside " << reference;
    EXPECT_EQ(found.proven, !refused) << wait << " beside " << reference;
  }
}

TEST(tune_fairness, a_policy_whose_slowest_thread_gets_under_half_of_its_share_is_refused) {
  const auto with = [](std::uint64_t turns) { return shown{0.5, 4 * ms, {{turns, 900 * ms}, {10'000 - turns, 0}}}; };
  for (const auto& [turns, refused] : {std::pair{2000u, false}, {1001u, false}, {999u, true}, {0u, true}}) {
    served_program program;
    program.of["libc"] = always({1.0, 4 * ms, {{2000, 200 * ms}, {8000, 0}}});
    program.of["mutex"] = always(with(turns));
    const auto found = program.tuned({"unmodified", "mutex"});
    EXPECT_EQ(found.refused.size(), refused ? 1u : 0u) << turns;
    if (turns != 0 || found.refused.empty()) continue;
    EXPECT_EQ(
        found.refused[0].reason,
        "the slowest thread got under half of its share in 4 of 4 rounds: 0 % of the turns at hot, 20 % under what "
        "you have");
  }
}

TEST(tune_fairness, a_thread_that_asks_seldom_is_not_starved_where_the_others_become_faster) {
  served_program program;
  program.of["libc"] = always({1.0, 1 * ms, {{100, 5 * ms}, {10'000, 0}}});
  program.of["mutex"] = always({0.5, 1 * ms, {{100, 5 * ms}, {90'000, 0}}});
  const auto found = program.tuned({"unmodified", "mutex"});
  EXPECT_TRUE(found.refused.empty());
  EXPECT_TRUE(found.proven);
}

TEST(tune_fairness, the_starved_thread_is_compared_with_the_same_rank) {
  // The thread with the fewest turns asks seldom; the next one is kept from its turns.
  served_program program;
  program.of["libc"] = always({1.0, 1 * ms, {{50, 0}, {5000, 100 * ms}, {5000, 100 * ms}}});
  program.of["mutex"] = always({0.5, 1 * ms, {{50, 0}, {700, 400 * ms}, {9000, 1 * ms}}});
  EXPECT_EQ(program.tuned({"unmodified", "mutex"}).refused.size(), 1u);
}

TEST(tune_fairness, threads_without_turns_at_one_site_hide_no_starved_thread_of_another) {
  served_program program;
  program.at_shutdown = {{0, 1000 * ms}, {0, 1000 * ms}};
  program.of["libc"] = always({1.0, 1 * ms, {{5000, 200 * ms}, {5000, 200 * ms}}});
  program.of["mutex"] = always({0.5, 1 * ms, {{20, 900 * ms}, {9980, 0}}});
  EXPECT_EQ(program.tuned({"unmodified", "mutex"}).refused.size(), 1u);
}

TEST(tune_fairness, a_policy_that_is_bad_in_half_of_its_rounds_is_not_refused) {
  for (const unsigned bad_of_ten : {2u, 4u, 5u, 6u, 10u}) {
    served_program program;
    program.of["libc"] = always({1.0, 1 * ms});
    // The bad ones come last, so that there are never more of them than good ones before.
    program.of["mutex"] = [&](unsigned run) {
      return shown{0.9, run > 10 - bad_of_ten && run <= 10 ? 50 * ms : 1 * ms};
    };
    program.of["ticket"] = always({0.9, 1 * ms});
    const auto found = program.tuned({"unmodified", "mutex", "ticket"});
    EXPECT_EQ(arm_of(found, 0, 1).status == tune::arm_status::refused, bad_of_ten > 5) << bad_of_ten;
  }
}

TEST(tune_fairness, a_policy_without_contention_is_not_refused) {
  served_program program;
  program.of["libc"] = always({1.0, 0, {{5000, 0}, {10, 0}}});
  program.of["mutex"] = always({0.8, 0, {{9000, 0}, {10, 0}}});
  const auto found = program.tuned({"unmodified", "mutex"});
  EXPECT_TRUE(found.refused.empty());
  EXPECT_EQ(found.best.candidate, "mutex");
  EXPECT_TRUE(found.proven);
}

TEST(tune_fairness, a_refused_policy_drops_no_other) {
  served_program program;
  program.of["libc"] = always({1.0, 1 * ms});
  program.of["tatas"] = always({0.5, 900 * ms});
  program.of["mutex"] = always({0.8, 1 * ms});
  const auto found = program.tuned({"unmodified", "tatas", "mutex"});
  EXPECT_EQ(found.best.candidate, "mutex");
  EXPECT_TRUE(found.proven);
}

TEST(tune_fairness, what_starves_in_the_proof_alone_is_not_proven) {
  served_program program;
  program.of["libc"] = always({1.0, 1 * ms});
  // One challenger is left after five rounds, which ends the first comparison.
  program.of["mutex"] = [](unsigned run) { return shown{0.5, run > 5 ? 80 * ms : 1 * ms}; };
  program.of["ticket"] = always({0.9, 1 * ms});
  const auto found = program.tuned({"unmodified", "ticket", "mutex"});
  EXPECT_EQ(found.best.candidate, "mutex");
  EXPECT_FALSE(found.proven);
  EXPECT_EQ(tune::verdict_words(found, {}).substr(0, 66),
            "Keep what you have: 'mutex' looked best, but was refused: a thread");
}

TEST(tune_fairness, the_reference_is_counted_in_the_first_rounds_of_each_comparison) {
  served_program program;
  program.of["libc"] = always({1.0, 1 * ms});
  program.of["mutex"] = always({0.5, 1 * ms});
  program.of["ticket"] = always({0.5, 1 * ms});
  auto found = program.tuned({"unmodified", "mutex", "ticket"});
  EXPECT_EQ(found.phases.size(), 2u);
  EXPECT_EQ(program.runs["libc"], 2 * tune::rounds_of_fair_reference);
  // Later rounds are judged all the same.
  EXPECT_EQ(arm_of(found, 1, 1).fairness.rounds.size(), 10u);
  EXPECT_EQ(arm_of(found, 1, 0).fairness.rounds.front().max_wait_ns, 1 * ms);

  // As a candidate it is run once a round, and is not compared with itself.
  program.runs.clear();
  found = program.tuned({"unmodified", "libc", "mutex"});
  EXPECT_EQ(program.runs["libc"], arm_of(found, 0, 1).values.size() + tune::rounds_of_fair_reference);
  EXPECT_TRUE(arm_of(found, 0, 1).fairness.rounds.empty());
  EXPECT_FALSE(arm_of(found, 0, 2).fairness.rounds.empty());
}

TEST(tune_fairness, beside_a_reference_that_counts_nothing_nothing_is_refused) {
  served_program program;
  program.of["mutex"] = always({0.5, 900 * ms});
  tune::question asked{.candidates = {"unmodified", "mutex"}, .site_base = {}};
  asked.by_sites = false;
  const auto found = tune::tune(program, asked, {[&] { return program.clock; }, [] { return false; }});
  EXPECT_TRUE(found.refused.empty());
  EXPECT_TRUE(found.phases.at(0).arms.at(1).fairness.rounds.empty());
}

TEST(tune_fairness, what_counts_for_the_reference_tells_which_sites_wait) {
  served_program program;
  program.of["libc"] = always({1.0, 2 * ms});
  program.of["mutex"] = always({1.2, 1 * ms});
  const auto found = program.tuned({"unmodified", "mutex"}, true);
  ASSERT_EQ(found.reference_sites.size(), 1u);
  EXPECT_EQ(found.sites.front().counted.wait_ns, 5 * 2 * ms) << "of five rounds; it is not run once more";
  EXPECT_EQ(program.runs["libc"], 5u);
  EXPECT_EQ(program.tuned({"unmodified", "libc", "mutex"}).reference_sites.size(), 1u);
}

TEST(tune_fairness, what_counts_for_the_reference_and_fails_is_run_once) {
  served_program program;
  program.failing = "libc";
  program.of["mutex"] = always({0.5, 900 * ms});
  const auto found = program.tuned({"unmodified", "mutex"}, true);
  EXPECT_EQ(program.runs["libc"], 2u) << "in each of two comparisons";
  EXPECT_TRUE(found.refused.empty()) << "there is nothing to compare it with";
  EXPECT_EQ(
      tune::refusal_words(found).at(0),
      "Whether a policy lets a thread starve was not judged, as what counts for 'unmodified' failed: exit status 3.");
  EXPECT_TRUE(found.proven);
}

TEST(tune_fairness, a_reference_that_counts_stands_for_itself) {
  served_program program;
  program.of["mine"] = always({1.0, 20 * ms});
  program.of["mutex"] = always({0.5, 70 * ms});
  tune::question asked{.candidates = {"mine", "mutex"}, .site_base = {}};
  asked.by_sites = false;
  const tune::environment world{[&] { return program.clock; }, [] { return false; }};
  EXPECT_TRUE(tune::tune(program, asked, world).proven);
  program.of["mutex"] = always({0.5, 90 * ms});
  EXPECT_EQ(tune::tune(program, asked, world).refused.size(), 1u);
  EXPECT_EQ(program.runs["libc"], 0u);
}

TEST(tune_fairness, what_the_reference_did_not_count_is_left_out) {
  const auto at = [](const char* name, const char* kind, std::uint64_t wait) {
    tune::measured made;
    made.seconds = 1;
    observe::site_record record;
    record.name = name;
    record.kind = kind;
    record.max_wait_ns = wait;
    record.by_thread = {{0, 1000 * ms}, {5000, 0}};
    made.sites.push_back({record, {}});
    return made;
  };
  EXPECT_FALSE(tune::held_against(at("spin", "spinlock", 900 * ms), at("hot", "mutex", 1)).is_bad());
  EXPECT_FALSE(tune::held_against(at("meet", "barrier", 900 * ms), at("meet", "barrier", 1)).is_bad());
  EXPECT_TRUE(tune::held_against(at("hot", "mutex", 900 * ms), at("hot", "mutex", 1)).is_bad());
  EXPECT_TRUE(tune::held_against(at("spin", "spinlock", 900 * ms), at("spin", "spinlock", 1)).is_bad());
  // The site of a mutex without an initialiser is named by the first thread.
  const tune::measured fair = [&] {
    tune::measured made = at("first", "mutex", 900 * ms);
    made.sites[0].counted.by_thread = {{2500, 0}, {2500, 0}};
    return made;
  }();
  const tune::round_fairness renamed = tune::held_against(at("second", "mutex", 900 * ms), fair);
  EXPECT_TRUE(renamed.starves());
  EXPECT_EQ(renamed.share_site, "second");
  EXPECT_EQ(renamed.reference_share, 0.5);
}

TEST(tune_fairness, documents_hold_the_figures_of_each_round) {
  served_program program;
  program.of["libc"] = always({1.0, 2 * ms, {{2000, 200 * ms}, {8000, 0}}});
  program.of["tatas"] = always({0.5, 3000 * ms, {{10, 499 * ms}, {9990, 0}}});
  const auto found = program.tuned({"unmodified", "tatas"});
  observe::document document;
  tune::put(document, found, {}, {});
  const observe::json& tuned = document.more["tune"];
  EXPECT_EQ(tuned["refused"][0]["candidate"], "tatas");
  const observe::json& row = tuned["table"][1];
  EXPECT_EQ(row["refused"], tuned["refused"][0]["reason"]);
  EXPECT_EQ(row["status"].get<std::string>().substr(0, 20), "refused in round 4: ");
  EXPECT_EQ(row["fairness"]["bad_rounds"], 4);
  EXPECT_EQ(
      row["fairness"]["rounds"][0].dump(),
      R"({"max_wait_ns":3000000000,"reference_max_wait_ns":2000000,"site":"hot","slowest_thread":{"share":0.001,"reference_share":0.2,"site":"hot"},"bad":true})");
}
