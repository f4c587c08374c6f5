// SPDX-License-Identifier: Apache-2.0
// The three outcomes of a claim, and how they are reported.
#include <gtest/gtest.h>

#include <string>

#include "observe/document/document.hpp"

namespace observe = txsync::observe;
using observe::better;
using observe::interval;
using observe::outcome;

namespace {

constexpr double goal = 1.05;

constexpr interval from_to(double low, double median, double high) {
  return {.median = median, .low95 = low, .high95 = high, .coverage = 0.95};
}

}  // namespace

TEST(judge, holds_where_the_median_reaches_the_goal) {
  EXPECT_EQ(observe::judge(from_to(1.06, 1.07, 1.08), goal), outcome::holds);
  EXPECT_EQ(observe::judge(from_to(1.01, 1.05, 1.08), goal), outcome::holds);
  EXPECT_EQ(observe::judge(from_to(1.01, 1.02, 1.03), goal, better::lower), outcome::holds);
  EXPECT_EQ(observe::judge(from_to(1.01, 1.05, 1.08), goal, better::lower), outcome::holds);
}

TEST(judge, misses_where_the_whole_interval_lies_on_the_wrong_side) {
  EXPECT_EQ(observe::judge(from_to(1.01, 1.02, 1.03), goal), outcome::missed);
  EXPECT_EQ(observe::judge(from_to(1.06, 1.07, 1.08), goal, better::lower), outcome::missed);
}

TEST(judge, leaves_undecided_what_only_the_interval_reaches) {
  EXPECT_EQ(observe::judge(from_to(0.91, 0.98, 1.09), goal), outcome::undecided) << "A1-3 of tatas once \"held\"";
  EXPECT_EQ(observe::judge(from_to(0.91, 0.98, 1.05), goal), outcome::undecided);
  EXPECT_EQ(observe::judge(from_to(1.01, 1.07, 1.08), goal, better::lower), outcome::undecided);
  EXPECT_EQ(observe::judge(from_to(1.05, 1.07, 1.08), goal, better::lower), outcome::undecided);
}

TEST(is_worse, goes_by_the_outcome_and_then_by_the_median) {
  const interval missed = from_to(1.03, 1.035, 1.04);
  const interval undecided = from_to(0.9, 1.0, 1.1);
  EXPECT_TRUE(observe::is_worse(missed, undecided, goal)) << "though its median is greater";
  EXPECT_FALSE(observe::is_worse(undecided, missed, goal));
  EXPECT_TRUE(observe::is_worse(from_to(1.1, 1.2, 1.3), from_to(1.1, 1.25, 1.3), goal));
  EXPECT_TRUE(observe::is_worse(from_to(0.8, 0.95, 1.0), from_to(0.8, 0.9, 1.0), goal, better::lower));
}

TEST(judged, fills_the_claim_from_the_interval) {
  const observe::claim one = observe::judged({.id = "A1-3", .from = {2}}, from_to(0.91, 0.98, 1.09), goal);
  EXPECT_EQ(one.outcome, outcome::undecided);
  EXPECT_EQ(one.value, 0.98);
  EXPECT_EQ(one.goal, goal);
  EXPECT_STREQ(observe::verdict_text(one), "undecided");
  const observe::json made = observe::to_json(one);
  EXPECT_EQ(made["holds"], false);
  EXPECT_EQ(made["outcome"], "undecided");
  EXPECT_EQ(made["low95"], 0.91);
  EXPECT_EQ(made["rule"], "value >= goal; missed where high95 < goal");
}

TEST(judged, of_a_number_without_an_interval_holds_or_is_missed) {
  EXPECT_EQ(observe::judged({}, 1.05, goal).outcome, outcome::holds);
  EXPECT_EQ(observe::judged({}, 1.04, goal).outcome, outcome::missed);
  EXPECT_EQ(observe::judged({}, 1.06, goal, better::lower).outcome, outcome::missed);
  const observe::claim missed = observe::judged({}, 1.06, goal, better::lower);
  EXPECT_STREQ(observe::verdict_text(missed), "MISSED");
  EXPECT_EQ(missed.rule, "value <= goal");
}

TEST(without_goal, is_written_down_and_asks_for_nothing) {
  const observe::claim one = observe::without_goal({}, from_to(0.9, 1.0, 1.1));
  EXPECT_STREQ(observe::verdict_text(one), "-");
  EXPECT_EQ(observe::to_json(one)["holds"], true);
}
