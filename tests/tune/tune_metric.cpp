// SPDX-License-Identifier: Apache-2.0
#include "tune/metric.hpp"

#include <gtest/gtest.h>

namespace tune = txsync::tune;

namespace {

std::string complaint(const char* regex) {
  try {
    tune::metric made(regex);
    return "";
  } catch (const tune::metric_error& error) {
    return error.what();
  }
}

}  // namespace

TEST(metric, is_the_last_number_that_matches) {
  const tune::metric rate("rate: *([0-9.]+)");
  EXPECT_EQ(rate.in("rate: 1.5\nother\nrate: 2.25 ops\n").value, 2.25);
  EXPECT_EQ(rate.in("rate: 1 rate: 3").value, 3);
  EXPECT_EQ(rate.in("rate: 7\r\n\n\n").value, 7);
  EXPECT_EQ(tune::metric("(\\d+e\\d+)").in("x 1e3").value, 1000);
}

TEST(metric, says_why_there_is_none) {
  const tune::metric rate("rate: (\\S+)");
  EXPECT_EQ(rate.in("one\ntwo\n\nthree\nfour\n").failure,
            "the output has no line that matches 'rate: (\\S+)'; its last lines: 'two' / 'three' / 'four'");
  EXPECT_EQ(rate.in("").failure, "the output has no line that matches 'rate: (\\S+)'; it printed nothing");
  EXPECT_EQ(rate.in("rate: fast").failure,
            "'fast', which 'rate: (\\S+)' found in the output, is not a number from 0 up");
  for (const char* output : {"rate: -1", "rate: inf", "rate: nan", "rate: 1x"}) {
    EXPECT_FALSE(rate.in(output).failure.empty()) << output;
  }
}

TEST(metric, has_exactly_one_group) {
  EXPECT_EQ(complaint("rate: ([0-9]+)"), "");
  EXPECT_EQ(complaint("(?:rate|speed): ([0-9]+)"), "");
  EXPECT_NE(complaint("rate").find("has 0 capture groups; allowed: exactly one"), std::string::npos);
  EXPECT_NE(complaint("(a)(b)").find("has 2 capture groups"), std::string::npos);
  EXPECT_NE(complaint("(a").find("is not a regular expression"), std::string::npos);
}

TEST(metric, reads_long_output_without_exhausting_the_stack) {
  const tune::metric rate("(?:.*)rate: ([0-9]+)");
  EXPECT_EQ(rate.in("rate: 5\n" + std::string(10'000'000, 'x') + "\n").value, 5);
}
