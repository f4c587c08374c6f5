// SPDX-License-Identifier: Apache-2.0
// Simulated points beside a paper's numbers: what is read from curves, and when a number is hit.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/evaluate.hpp"

namespace {

namespace e = txsync::experiments;
namespace observe = txsync::observe;
using e::reading;
using e::verdict;

observe::point point_with(std::uint64_t attempts, std::uint64_t commits) {
  observe::point made;
  made.threads = 2;
  made.values = {1e6};
  made.attempts = observe::attempt_record{attempts, commits, 0, {}, {}};
  made.cycles = observe::cycle_record{1000, 300, 100};
  return made;
}

/// Two curves over 1, 2 and 4 lines of 64 bytes: abort rates of 0, 40 and 80 percent, and of 20, 60 and 100.
struct two_curves {
  two_curves() {
    of.along = {"lines", "bytes", {1, 2, 4}, 64};
    of.variants = {{"low", "attempt"}, {"high", "attempt"}};
  }
  e::results run() const {
    e::results made(of, 2000);
    for (std::size_t curve = 0; curve < 2; ++curve) {
      for (std::size_t place = 0; place < 3; ++place) {
        made.points[curve][place] = point_with(100, 100 - 40 * place - 20 * curve);
      }
    }
    return made;
  }
  e::comparison compared(const e::fact& fact) {
    of.facts = {fact};
    return e::compare(of, run()).front();
  }

  e::experiment of;
};

TEST(Evaluation, QuantitiesOfAPoint) {
  const observe::point one = point_with(200, 150);
  EXPECT_EQ(e::number_of(e::quantity::abort_rate, one, 2000), 25);
  EXPECT_EQ(e::number_of(e::quantity::transactional_cycles, one, 2000), 40);
  EXPECT_EQ(e::number_of(e::quantity::aborted_cycles, one, 2000), 25);
  EXPECT_EQ(e::number_of(e::quantity::throughput, one, 2000), 1e6);
  EXPECT_EQ(e::number_of(e::quantity::cycles_each, one, 2000), 4000);
  EXPECT_EQ(e::number_of(e::quantity::attempt_cycles, one, 2000), 2);
  EXPECT_NEAR(*e::number_of(e::quantity::attempts_a_commit, one, 2000), 200.0 / 150, 1e-9);
  EXPECT_FALSE(e::number_of(e::quantity::conflict_aborts, one, 2000)) << "no cause is known";
  observe::point with_causes = one;
  with_causes.attempts->aborts = {{"capacity", 10}, {"conflict", 40}};
  EXPECT_EQ(e::number_of(e::quantity::conflict_aborts, with_causes, 2000), 80);
  observe::point without_attempts = one;
  without_attempts.attempts.reset();
  EXPECT_FALSE(e::number_of(e::quantity::abort_rate, without_attempts, 2000));
  observe::point failed = one;
  failed.values.clear();
  EXPECT_FALSE(e::number_of(e::quantity::throughput, failed, 2000));
}

TEST(Evaluation, ReadsCurves) {
  two_curves both;
  const auto read = [&](const e::fact& fact) { return both.compared(fact).simulated.value_or(-1); };
  EXPECT_EQ(read({.variant = "low", .at = 2}), 40);
  EXPECT_EQ(read({.variant = "high", .at = 2, .read = reading::ratio, .beside = "low"}), 1.5);
  EXPECT_EQ(read({.variant = "high", .at = 2, .read = reading::excess, .beside = "low"}), 20);
  EXPECT_EQ(read({.variant = "low", .read = reading::crossing}), 160) << "a quarter of the way from 128 to 256";
  EXPECT_EQ(read({.variant = "low", .read = reading::crossing, .level = 0}), 64) << "at the first position";
  EXPECT_EQ(read({.variant = "high", .read = reading::crossing_ratio, .beside = "low"}), 112.0 / 160);
  EXPECT_TRUE(std::isinf(read({.variant = "low", .read = reading::crossing, .level = 90})));
}

TEST(Evaluation, ComparesAPositionWithAnother) {
  two_curves test;
  e::fact growth{.variant = "high", .at = 4, .expected = e::exactly(5), .read = reading::ratio, .beside = "high"};
  growth.beside_at = 1;
  EXPECT_EQ(test.compared(growth).simulated, 5);
  EXPECT_EQ(e::words_of(test.of, growth), "high at 256 bytes: abort rate over that of high at 64 bytes");
  test.of.along.names = {"one", "two", "four"};
  EXPECT_EQ(e::words_of(test.of, growth), "high with four: abort rate over that of high with one");
}

/// Three seeds each. The ratios by seed are 2, 1 and 3, the medians 20 and 10.
TEST(Evaluation, RatiosAreFormedSeedBySeed) {
  two_curves test;
  test.of.measured = e::quantity::throughput;
  e::results seen = test.run();
  seen.points[0][1]->values = {10, 20, 5};
  seen.points[1][1]->values = {20, 20, 15};
  const auto compared = [&](const e::fact& fact) {
    test.of.facts = {fact};
    return e::compare(test.of, seen).front();
  };
  const e::fact ratio{.variant = "high", .at = 2, .expected = e::at_least(2), .read = reading::ratio, .beside = "low"};
  EXPECT_EQ(compared(ratio).simulated, 2);
  e::fact gain = ratio;
  gain.read = reading::gain;
  gain.expected = e::exactly(104);
  EXPECT_NEAR(*compared(gain).simulated, 100, 1e-9);
  EXPECT_TRUE(compared(gain).in_points);
  EXPECT_EQ(compared(gain).how, verdict::hit) << "within 5 points";
  gain.expected = e::at_least(104);
  EXPECT_EQ(compared(gain).how, verdict::miss) << "a bound has no allowance";
  EXPECT_EQ(e::words_of(test.of, gain), "high at 128 bytes: gain in throughput over low, in percent");
  EXPECT_EQ(compared({.variant = "low", .at = 2, .expected = e::exactly(10)}).simulated, 10) << "the median";
}

TEST(Evaluation, OneValueHasAnAllowanceAndARangeHasNone) {
  two_curves both;
  const auto verdict_of = [&](const e::range& expected) {
    return both.compared({.variant = "low", .at = 2, .expected = expected}).how;
  };
  EXPECT_EQ(verdict_of(e::exactly(44)), verdict::hit) << "within 5 points";
  EXPECT_EQ(verdict_of(e::exactly(46)), verdict::miss);
  EXPECT_EQ(verdict_of(e::between(30, 40)), verdict::hit);
  EXPECT_EQ(verdict_of(e::between(41, 50)), verdict::miss);
  EXPECT_EQ(verdict_of(e::at_most(39)), verdict::miss);
  EXPECT_EQ(verdict_of(e::at_least(40)), verdict::hit);
  both.of.allowed = e::of_closed_forms;
  EXPECT_EQ(verdict_of(e::exactly(44)), verdict::miss);
}

TEST(Evaluation, ErrorsSayWhichWayAndInWhat) {
  two_curves both;
  const e::comparison points = both.compared({.variant = "low", .at = 2, .expected = e::exactly(46)});
  EXPECT_EQ(points.error, -6);
  EXPECT_TRUE(points.in_points);
  const e::comparison beyond = both.compared({.variant = "low", .at = 2, .expected = e::at_most(30)});
  EXPECT_EQ(beyond.error, 10) << "from the bound";
  const e::comparison ratio =
      both.compared({.variant = "high", .at = 2, .expected = e::exactly(1.2), .read = reading::ratio, .beside = "low"});
  EXPECT_NEAR(ratio.error, 25, 1e-9);
  EXPECT_FALSE(ratio.in_points);
  EXPECT_EQ(ratio.how, verdict::miss);
}

TEST(Evaluation, WhatWasNotSimulatedIsNoMiss) {
  two_curves both;
  EXPECT_EQ(both.compared({.variant = "other", .at = 2}).how, verdict::not_simulated);
  EXPECT_EQ(both.compared({.variant = "low", .at = 3}).how, verdict::not_simulated);
  both.of.facts = {{.variant = "low", .at = 2}};
  EXPECT_EQ(e::compare(both.of, e::results(both.of, 2000)).front().how, verdict::not_simulated);
}

TEST(Evaluation, InWords) {
  EXPECT_EQ(e::expected_words(e::exactly(12.15)), "12.15");
  EXPECT_EQ(e::expected_words(e::between(30, 50)), "30 to 50");
  EXPECT_EQ(e::expected_words(e::at_most(0.01)), "at most 0.01");
  EXPECT_EQ(e::expected_words(e::at_least(90)), "at least 90");
  EXPECT_EQ(e::digits(99.99), "99.99");
  EXPECT_EQ(e::digits(100), "100");
  EXPECT_EQ(e::digits(10'000'000), "10000000");
  EXPECT_EQ(e::digits(61'160'000.5), "6.116e+07");
  two_curves both;
  EXPECT_EQ(e::words_of(both.of, {.variant = "low", .at = 2}), "low at 128 bytes: abort rate");
}

}  // namespace
