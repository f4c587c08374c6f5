// SPDX-License-Identifier: Apache-2.0
// Which points get more rounds.
#include "observe/document/more_rounds.hpp"

#include <gtest/gtest.h>

namespace observe = txsync::observe;
using observe::claim;
using observe::outcome;
using points = std::vector<std::size_t>;

namespace {

claim claim_of(outcome how, points from) { return {.outcome = how, .from = std::move(from)}; }

}  // namespace

TEST(more_rounds, are_for_the_points_of_undecided_claims) {
  observe::more_rounds more(5);
  const std::vector<claim> claims{claim_of(outcome::holds, {0}), claim_of(outcome::undecided, {4, 1}),
                                  claim_of(outcome::missed, {2}), claim_of(outcome::undecided, {1, 2})};
  EXPECT_EQ(more.next(claims), (points{1, 2, 4}));
}

TEST(more_rounds, end_when_all_is_decided) {
  observe::more_rounds more(2);
  EXPECT_EQ(more.next({claim_of(outcome::undecided, {0, 1})}), (points{0, 1}));
  EXPECT_EQ(more.next({claim_of(outcome::holds, {0, 1})}), points{});
}

TEST(more_rounds, are_at_most_three_series_more) {
  observe::more_rounds more(1);
  const std::vector<claim> undecided{claim_of(outcome::undecided, {0})};
  for (unsigned series = 1; series < observe::max_round_factor; ++series) EXPECT_EQ(more.next(undecided), points{0});
  EXPECT_EQ(more.next(undecided), points{});
  EXPECT_EQ(more.next(undecided), points{}) << "for good";
}

TEST(more_rounds, leave_out_for_good_what_missed_a_series) {
  observe::more_rounds more(3);
  EXPECT_EQ(more.next({claim_of(outcome::undecided, {0, 1})}), (points{0, 1}));
  EXPECT_EQ(more.next({claim_of(outcome::undecided, {1, 2})}), points{1}) << "2 has no second series to compare with";
}
