// SPDX-License-Identifier: Apache-2.0
#include "observe/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

namespace observe = txsync::observe;
using values = std::vector<double>;

TEST(summary, takes_the_middle_and_the_range) {
  const auto odd = observe::summarize(values{5, 1, 3});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.low, 1);
  EXPECT_EQ(odd.high, 5);
  EXPECT_EQ(observe::summarize(values{4, 1, 2, 8}).median, 3);
  EXPECT_EQ(observe::summarize(values{7}).median, 7);
}

TEST(summary, refuses_what_is_no_measurement) {
  EXPECT_THROW(observe::summarize(values{}), std::invalid_argument);
  EXPECT_THROW(observe::summarize(values{1, std::nan("")}), std::invalid_argument);
  EXPECT_THROW(observe::summarize(values{1, std::numeric_limits<double>::infinity()}), std::invalid_argument);
}

using counts = std::vector<std::uint64_t>;

TEST(fairness, is_the_middle_part_that_the_slowest_thread_has_of_the_fastest) {
  EXPECT_EQ(observe::fairness(counts{10}, counts{40}), 0.25);
  EXPECT_EQ(observe::fairness(counts{0, 30, 40}, counts{90, 40, 40}), 0.75);
  EXPECT_EQ(observe::fairness(counts{0}, counts{0}), 0);
  EXPECT_THROW(observe::fairness(counts{1}, counts{1, 2}), std::invalid_argument);
  EXPECT_THROW(observe::fairness(counts{}, counts{}), std::invalid_argument);
}

// The ranks are those of the tables for the sign test: 1 - 2 P(Bin(n, 1/2) < rank).
TEST(slowest_share, is_a_part_of_an_equal_share) {
  EXPECT_EQ(observe::slowest_share(counts{7}), 1);
  EXPECT_EQ(observe::slowest_share(counts{5, 5, 5}), 1);
  EXPECT_DOUBLE_EQ(observe::slowest_share(counts{10, 20, 30}), 0.5);
  EXPECT_EQ(observe::slowest_share(counts{0, 9}), 0);
  EXPECT_EQ(observe::slowest_share(counts{0, 0}), 1);
  EXPECT_THROW(observe::slowest_share(counts{}), std::invalid_argument);
}

TEST(busier_half_share, is_a_half_where_all_had_the_same) {
  EXPECT_EQ(observe::busier_half_share(counts{7}), 0.5);
  EXPECT_EQ(observe::busier_half_share(counts{5, 5}), 0.5);
  EXPECT_EQ(observe::busier_half_share(counts{5, 5, 5}), 0.5);
  EXPECT_DOUBLE_EQ(observe::busier_half_share(counts{1, 9, 2, 8}), 0.85);
  EXPECT_DOUBLE_EQ(observe::busier_half_share(counts{0, 4, 6}), 0.8) << "6 and a half of 4";
  EXPECT_EQ(observe::busier_half_share(counts{0, 0, 0, 9}), 1);
  EXPECT_EQ(observe::busier_half_share(counts{0, 0}), 0.5);
  EXPECT_THROW(observe::busier_half_share(counts{}), std::invalid_argument);
}

TEST(median_interval, has_the_ranks_of_the_binomial_distribution) {
  const auto of = [](int count) {
    values series;
    for (int i = 1; i <= count; ++i) series.push_back(i);
    return observe::median_interval(series);
  };
  EXPECT_EQ(of(1).coverage, 0);
  EXPECT_NEAR(of(2).coverage, 0.5, 1e-9);
  EXPECT_NEAR(of(5).coverage, 0.9375, 1e-9);
  EXPECT_EQ(of(5).low95, 1);
  EXPECT_NEAR(of(6).coverage, 0.96875, 1e-9);
  EXPECT_EQ(of(6).low95, 1);
  EXPECT_EQ(of(6).high95, 6);
  EXPECT_EQ(of(8).low95, 1);
  EXPECT_EQ(of(9).low95, 2);
  EXPECT_EQ(of(9).high95, 8);
  EXPECT_NEAR(of(10).coverage, 0.978515625, 1e-9);
  EXPECT_EQ(of(10).low95, 2);
  EXPECT_EQ(of(12).low95, 3);
  EXPECT_EQ(of(20).low95, 6);
  EXPECT_EQ(of(20).high95, 15);
  EXPECT_EQ(of(100).low95, 40);
  EXPECT_EQ(of(100).high95, 61);
  EXPECT_GE(of(10'000).coverage, 0.95);
  EXPECT_LT(of(10'000).coverage, 0.952);
}

// Drawn from a skewed distribution with a known median, the interval must hold it about as often as it says.
TEST(median_interval, covers_as_often_as_it_says) {
  std::mt19937_64 random(7);
  int covered = 0;
  constexpr int runs = 4000;
  double coverage = 0;
  for (int run = 0; run < runs; ++run) {
    values sample(11);
    for (double& value : sample) value = std::exp(3 * (static_cast<double>(random() >> 11) * 0x1p-53 - 0.5));
    const auto found = observe::median_interval(sample);
    coverage = found.coverage;
    covered += found.low95 <= 1.0 && 1.0 <= found.high95;
  }
  EXPECT_NEAR(static_cast<double>(covered) / runs, coverage, 0.015);
  EXPECT_GE(coverage, 0.95);
}

TEST(ratio, is_formed_within_each_round) {
  // A disturbance that halves both in one round must not widen the interval.
  const values ours{20, 10, 20, 20, 10, 20};
  const values theirs{10, 5, 10, 10, 5, 10};
  const auto found = observe::ratio_interval(ours, theirs);
  EXPECT_EQ(found.median, 2);
  EXPECT_EQ(found.low95, 2);
  EXPECT_EQ(found.high95, 2);
}

TEST(ratio, turns_around_where_lower_is_better) {
  EXPECT_EQ(observe::ratio_interval(values{2, 2}, values{8, 8}, observe::better::lower).median, 4);
  EXPECT_EQ(observe::ratio_interval(values{2, 2}, values{8, 8}, observe::better::higher).median, 0.25);
}

TEST(ratio, is_bounded_where_one_stood_still) {
  EXPECT_EQ(observe::ratios(values{1, 0, 0, 1e9}, values{0, 1, 0, 1}),
            (values{observe::max_ratio, 1 / observe::max_ratio, 1, observe::max_ratio}));
  EXPECT_EQ(observe::ratios(values{0}, values{5}, observe::better::lower), (values{observe::max_ratio}));
}

TEST(ratio, refuses_unequal_rounds_and_what_is_no_amount) {
  EXPECT_THROW(observe::ratio_interval(values{1, 2}, values{1}), std::invalid_argument);
  EXPECT_THROW(observe::ratio_interval(values{1, -1}, values{1, 1}), std::invalid_argument);
  EXPECT_THROW(observe::ratio_interval(values{1, 1}, values{1, std::nan("")}), std::invalid_argument);
  EXPECT_THROW(observe::ratio_interval(values{}, values{}), std::invalid_argument);
}

TEST(geometric_mean, is_of_the_medians_of_the_cells) {
  const std::vector<values> cells{{2, 2, 2}, {0.5, 0.5, 0.5}, {8, 7, 100}};
  const auto found = observe::geometric_mean(cells);
  EXPECT_NEAR(found.median, 2, 1e-9);
  EXPECT_LE(found.low95, found.median);
  EXPECT_GE(found.high95, found.median);
  EXPECT_GT(found.high95, found.low95);
  EXPECT_EQ(found.coverage, 0.95);
}

TEST(geometric_mean, repeats_with_its_seed) {
  std::mt19937_64 random(3);
  std::vector<values> cells(6, values(8));
  for (values& cell : cells) {
    for (double& value : cell) value = 0.9 + static_cast<double>(random() % 1000) / 5000;
  }
  const auto first = observe::geometric_mean(cells, 11);
  const auto again = observe::geometric_mean(cells, 11);
  EXPECT_EQ(first.low95, again.low95);
  EXPECT_EQ(first.high95, again.high95);
  EXPECT_LT(first.low95, first.high95);
}

TEST(geometric_mean, of_single_values_claims_no_coverage) {
  const std::vector<values> cells{{2}, {8}};
  const auto found = observe::geometric_mean(cells);
  EXPECT_NEAR(found.median, 4, 1e-9);
  EXPECT_EQ(found.low95, found.median);
  EXPECT_EQ(found.coverage, 0);
}

TEST(geometric_mean, refuses_empty_cells) {
  EXPECT_THROW(observe::geometric_mean({}), std::invalid_argument);
  EXPECT_THROW(observe::geometric_mean(std::vector<values>{{1}, {}}), std::invalid_argument);
  EXPECT_THROW(observe::geometric_mean(std::vector<values>{{1, -1}}), std::invalid_argument);
}

TEST(best_peer, is_chosen_on_odd_rounds_and_compared_on_even_ones) {
  // In odd rounds "lucky" wins, in even ones it is slower than "steady": it must be chosen, and compared where it lost.
  const values ours{10, 10, 10, 10, 10, 10};
  const values steady{8, 8, 8, 8, 8, 8};
  const values lucky{20, 5, 20, 5, 20, 4};
  const observe::peer_values peers[] = {{"steady", steady}, {"lucky", lucky}};
  const auto found = observe::compare_to_best_peer(ours, peers);
  EXPECT_EQ(found.peer, 1u);
  EXPECT_EQ(found.peer_name, "lucky");
  EXPECT_EQ(found.ratios, (values{2, 2, 2.5}));
  EXPECT_EQ(found.ratio.median, 2);
}

TEST(best_peer, is_the_lowest_where_lower_is_better) {
  const values ours{10, 10, 10};
  const values slow{30, 30, 30};
  const values fast{5, 5, 5};
  const observe::peer_values peers[] = {{"slow", slow}, {"fast", fast}};
  const auto found = observe::compare_to_best_peer(ours, peers, observe::better::lower);
  EXPECT_EQ(found.peer_name, "fast");
  EXPECT_EQ(found.ratios, (values{0.5}));
}

TEST(best_peer, refuses_what_cannot_be_compared) {
  const values two{1, 2};
  const values three{1, 2, 3};
  const observe::peer_values unequal[] = {{"p", three}};
  const observe::peer_values equal[] = {{"p", two}};
  EXPECT_THROW(observe::compare_to_best_peer(two, {}), std::invalid_argument);
  EXPECT_THROW(observe::compare_to_best_peer(two, unequal), std::invalid_argument);
  EXPECT_THROW(observe::compare_to_best_peer(values{1}, equal), std::invalid_argument);
}

TEST(sign_test, is_the_binomial_tail_of_the_rounds_lost) {
  EXPECT_NEAR(observe::sign_test_below_one(values{0.9, 0.8, 0.7, 0.99, 0.5}), 1.0 / 32, 1e-12);
  EXPECT_NEAR(observe::sign_test_below_one(values{0.9, 0.8, 0.7, 0.99}), 1.0 / 16, 1e-12);
  EXPECT_NEAR(observe::sign_test_below_one(values{0.9, 0.8, 0.7, 1.01}), 5.0 / 16, 1e-12);
  EXPECT_NEAR(observe::sign_test_below_one(values{2, 3}), 1, 1e-12);
  EXPECT_NEAR(observe::sign_test_below_one(values{1, 0.5, 1}), 0.5, 1e-12);  // equal rounds say nothing
  EXPECT_EQ(observe::sign_test_below_one(values{1, 1}), 1);
  EXPECT_EQ(observe::sign_test_below_one(values{}), 1);
  EXPECT_THROW(observe::sign_test_below_one(values{0}), std::invalid_argument);
}

TEST(goal, is_missed_only_by_the_whole_interval) {
  using observe::outcome;
  EXPECT_EQ(observe::judge({0.9, 0.88, 0.94, 0.95}, 0.95), outcome::missed);
  EXPECT_EQ(observe::judge({0.9, 0.88, 0.95, 0.95}, 0.95), outcome::undecided);
  EXPECT_EQ(observe::judge({0.95, 0.88, 0.96, 0.95}, 0.95), outcome::holds);
}
