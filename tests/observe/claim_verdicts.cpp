// SPDX-License-Identifier: Apache-2.0
// What is said of a claim whose goal lies within its interval.
#include <gtest/gtest.h>

#include <string>

#include "observe/document/document.hpp"

namespace observe = txsync::observe;

namespace {

std::string verdict(const char* rule, bool holds, double low, double median, double high) {
  observe::claim one;
  one.value = median;
  one.goal = 1.05;
  one.holds = holds;
  one.rule = rule;
  one.value_interval = observe::interval{.median = median, .low95 = low, .high95 = high, .coverage = 0.95};
  return observe::verdict_text(one);
}

}  // namespace

TEST(verdict_text, is_one_word_where_the_interval_lies_on_one_side_of_the_goal) {
  EXPECT_EQ(verdict("high95 >= goal", true, 1.06, 1.07, 1.08), "holds");
  EXPECT_EQ(verdict("high95 >= goal", false, 1.01, 1.02, 1.03), "MISSED");
  EXPECT_EQ(verdict("low95 <= goal", true, 1.01, 1.02, 1.03), "holds");
  EXPECT_EQ(verdict("low95 <= goal", false, 1.06, 1.07, 1.08), "MISSED");
}

TEST(verdict_text, says_what_bears_it_where_the_interval_spans_the_goal) {
  EXPECT_EQ(verdict("high95 >= goal", true, 1.01, 1.03, 1.08), "holds by its upper bound: not decided by this run");
  EXPECT_EQ(verdict("high95 >= goal in the worst cell", true, 1.01, 1.07, 1.08),
            "holds by its median: not decided by this run");
  EXPECT_EQ(verdict("low95 <= goal", true, 1.01, 1.07, 1.08), "holds by its lower bound: not decided by this run");
  EXPECT_EQ(verdict("low95 <= goal", true, 1.01, 1.03, 1.08), "holds by its median: not decided by this run");
  EXPECT_EQ(verdict("value <= goal", false, 1.01, 1.07, 1.08), "MISSED by its median: not decided by this run");
}

TEST(verdict_text, of_a_miss_in_another_cell_is_a_miss) {
  EXPECT_EQ(verdict("high95 >= goal in every cell", false, 0.8, 1.01, 1.2), "MISSED");
}

TEST(verdict_text, without_an_interval_or_a_goal_is_one_word) {
  observe::claim one;
  one.value = true;
  one.goal = true;
  one.holds = true;
  EXPECT_EQ(observe::verdict_text(one), "holds");
  EXPECT_EQ(verdict(observe::no_goal, true, 0.9, 1.0, 1.1), "-");
}
