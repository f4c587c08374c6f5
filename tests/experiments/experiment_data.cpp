// SPDX-License-Identifier: Apache-2.0
// Experiments as data: whatever they name is there, and in range; and the formulas that some of them hold the
// simulation against.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/closed_forms.hpp"
#include "experiments/experiment.hpp"
#include "sim/models/machine_file.hpp"
#include "workloads/harness/workload.hpp"

namespace {

namespace e = txsync::experiments;
namespace w = txsync::workloads;
namespace sim = txsync::sim;

TEST(Experiments, AreFoundByTheirIds) {
  std::set<std::string> ids;
  for (const e::experiment& one : e::all()) {
    EXPECT_TRUE(ids.insert(one.id).second) << one.id << " twice";
    EXPECT_EQ(e::find(one.id), &one);
    EXPECT_FALSE(one.title.empty()) << one.id;
    EXPECT_FALSE(one.source.empty()) << one.id;
  }
  EXPECT_GE(ids.size(), 25U);
  EXPECT_EQ(e::find("thesis"), nullptr);
}

/// The machine of an experiment, with its changes.
sim::machine_model model_of(const e::experiment& one) {
  sim::machine_model made = sim::read_machine(std::string(TXSYNC_SHIPPED_MACHINES) + "/" + one.machine + ".toml").model;
  for (const e::setting& change : one.changes) {
    const std::size_t dot = change.key.find('.');
    const std::size_t index = sim::field_index(change.key.substr(0, dot), change.key.substr(dot + 1));
    EXPECT_NE(index, sim::no_field) << one.id << ": " << change.key;
    if (index != sim::no_field) made.*sim::fields()[index].member = static_cast<std::uint32_t>(change.value);
  }
  return made;
}

void expect_right_values(const e::experiment& of, const e::variant& curve, std::uint64_t position) {
  const w::workload& which = *w::find_workload(of.workload);
  w::parameters values = w::default_parameters(which);
  std::vector<e::setting> settings = curve.settings;
  if (of.along.key != e::by_threads) settings.push_back({of.along.key, position});
  for (const e::setting& one : settings) {
    const int index = w::find_parameter(which, one.key);
    ASSERT_GE(index, 0) << one.key;
    values.values[index] = one.value;
  }
  EXPECT_EQ(w::complaint(which, values), nullptr) << w::complaint(which, values);
}

TEST(Experiments, NameMachinesWorkloadsAndLocksThatAreThere) {
  for (const e::experiment& one : e::all()) {
    SCOPED_TRACE(one.id);
    const sim::machine_model model = model_of(one);
    if (one.whole_program) continue;
    ASSERT_NE(w::find_workload(one.workload), nullptr) << one.workload;
    ASSERT_FALSE(one.along.positions.empty());
    EXPECT_TRUE(one.along.names.empty() || one.along.names.size() == one.along.positions.size());
    EXPECT_TRUE(std::ranges::is_sorted(one.along.positions)) << "crossings are looked for from the first on";
    for (const e::variant& curve : one.variants) {
      SCOPED_TRACE(curve.name);
      const w::subject* lock = w::find_subject(curve.subject);
      ASSERT_NE(lock, nullptr) << curve.subject;
      EXPECT_NE(lock->runner_of(w::id_of(*w::find_workload(one.workload))), nullptr);
      EXPECT_LE(curve.threads, model.hardware_threads());
      for (const std::uint64_t position : one.along.positions) expect_right_values(one, curve, position);
    }
  }
}

TEST(Experiments, OfWholeProgramsSayHowTheyRun) {
  unsigned programs = 0;
  for (const e::experiment& one : e::all()) {
    SCOPED_TRACE(one.id);
    for (const e::variant& curve : one.variants) EXPECT_NE(curve.file.empty(), one.whole_program.has_value());
    if (!one.whole_program) continue;
    ++programs;
    const e::program& whole = *one.whole_program;
    const auto takes = [&](const char* word) { return std::ranges::count(whole.arguments, word) == 1; };
    EXPECT_TRUE(takes("{threads}") && takes("{operations}") && takes("{seed}") && takes("{folder}/result"));
    EXPECT_TRUE(whole.run_folder.ends_with("XXXXXX"));
    EXPECT_GE(whole.seeds, 1U);
    EXPECT_FALSE(whole.name.empty() || whole.folder.empty() || whole.built_by.empty());
    // Otherwise the positions are the driver's workloads.
    EXPECT_TRUE(one.along.key == e::by_threads || one.along.names.size() == one.along.positions.size());
    const std::uint64_t most = one.along.key == e::by_threads ? one.along.positions.back() : one.variants[0].threads;
    EXPECT_LE(most, model_of(one).hardware_threads());
  }
  EXPECT_EQ(programs, 5U) << "LevelDB's and Kyoto Cabinet's";
}

TEST(Experiments, FactsAreAboutTheirCurves) {
  for (const e::experiment& one : e::all()) {
    SCOPED_TRACE(one.id);
    const auto has = [&](const std::string& name) {
      return std::ranges::any_of(one.variants, [&](const e::variant& curve) { return curve.name == name; });
    };
    for (const e::fact& fact : one.facts) {
      SCOPED_TRACE(fact.variant);
      EXPECT_FALSE(fact.source.empty());
      EXPECT_LE(fact.expected.low, fact.expected.high);
      // A number without a curve is not simulated: then the remark says why.
      if (!has(fact.variant)) {
        EXPECT_FALSE(one.remark.empty());
      }
      const bool crosses = fact.read == e::reading::crossing || fact.read == e::reading::crossing_ratio;
      EXPECT_TRUE(crosses || std::ranges::find(one.along.positions, fact.at) != one.along.positions.end()) << fact.at;
      const bool compares = fact.read != e::reading::value && fact.read != e::reading::crossing;
      EXPECT_EQ(has(fact.beside), compares) << fact.beside;
      if (fact.beside_at) {
        EXPECT_EQ(fact.read, e::reading::ratio);
        EXPECT_NE(std::ranges::find(one.along.positions, *fact.beside_at), one.along.positions.end());
      }
    }
  }
}

TEST(Experiments, AnswerTheLinesThatAskForThem) {
  const auto lines = [](const char* id) {
    std::set<std::string> all;
    for (const e::fact& fact : e::find(id)->facts) all.insert(fact.answers);
    return all;
  };
  EXPECT_EQ(lines("leveldb-counters"), std::set<std::string>{""}) << "no line asks for the LevelDB paper's Fig 2";
  for (const e::experiment& one : e::all()) {
    if (one.id.starts_with("always-abort-") || one.id == "kyotocabinet") {
      EXPECT_EQ(lines(one.id.c_str()), std::set<std::string>{"C2-3"}) << one.id;
    }
    if (one.id.starts_with("leveldb-") && one.whole_program) {
      EXPECT_EQ(lines(one.id.c_str()), std::set<std::string>{"C1-4"}) << one.id;
    }
  }
}

TEST(Experiments, OnlyClosedFormsChangeAMachine) {
  for (const e::experiment& one : e::all()) {
    const bool formula = one.id.starts_with("closed-form-");
    EXPECT_TRUE(one.changes.empty() || formula) << one.id;
    EXPECT_EQ(one.allowed.points, formula ? e::of_closed_forms.points : e::of_papers.points) << one.id;
    for (const e::fact& fact : one.facts) EXPECT_EQ(fact.how == e::standing::closed_form, formula) << one.id;
  }
}

/// By enumeration where that is possible: 3 lines in 2 sets of 2 ways overflow when all fall into one, 2 of 8 times.
TEST(ClosedForms, OverflowOfSmallCaches) {
  EXPECT_NEAR(e::overflow_chance(3, {2, 2, 0, 0}), 0.25, 1e-12);
  EXPECT_NEAR(e::overflow_chance(2, {64, 1, 0, 0}), 1.0 / 64, 1e-12);
  EXPECT_NEAR(e::overflow_chance(0, {64, 8, 0, 0}), 0, 1e-12);
  EXPECT_NEAR(e::overflow_chance(513, {64, 8, 0, 0}), 1, 1e-9);
  // 2 of the 4 lines of 2 sets with a way: the second must not be the other line of the first one's set.
  EXPECT_NEAR(e::overflow_chance(2, {2, 1, 2, 0}), 1.0 / 3, 1e-12);
  // One way, and others want it with 1 - e^-0.5.
  EXPECT_NEAR(e::overflow_chance(1, {1, 1, 0, 0.5}), 1 - std::exp(-0.5), 1e-12);
}

/// The numbers that were computed for the models before there was a simulation.
TEST(ClosedForms, OverflowOfTheModelledCaches) {
  for (const auto& [lines, percent] : {std::pair{96U, 0.2},
                                       {128U, 1.2},
                                       {160U, 6.6},
                                       {192U, 20.0},
                                       {224U, 47.0},
                                       {256U, 77.0},
                                       {288U, 94.0},
                                       {320U, 99.5}}) {
    EXPECT_NEAR(100 * e::overflow_chance(lines, {64, 8, 0, 0}), percent, 1) << lines;
  }
  for (const auto& [lines, percent] : {std::pair{256U, 1.4}, {320U, 10.0}, {384U, 43.0}}) {
    EXPECT_NEAR(100 * e::overflow_chance(lines, {64, 12, 0, 0}), percent, 1.5) << lines;
  }
  for (const auto& [lines, percent] : {std::pair{160U, 23.0}, {192U, 54.0}, {224U, 85.0}}) {
    EXPECT_NEAR(100 * e::overflow_chance(lines, {64, 7, 0, 0}), percent, 1.5) << lines << ", one way lost";
  }
}

TEST(ClosedForms, Timer) {
  EXPECT_NEAR(e::timer_chance(1e5, 3400, 1000), 0.029, 0.001);
  EXPECT_NEAR(e::timer_chance(1e6, 3400, 250), 0.074, 0.001);
  EXPECT_EQ(e::timer_chance(1e7, 3400, 1000), 1);
}

}  // namespace
