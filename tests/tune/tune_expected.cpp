// SPDX-License-Identifier: Apache-2.0
// How long a tuning is expected to take.
#include <gtest/gtest.h>

#include "tune/engine.hpp"

namespace tune = txsync::tune;

namespace {

/// Each run takes a second, whatever it runs with.
class seconds final : public tune::trial {
 public:
  tune::measured run(const tune::configuration&, double) override {
    ++runs;
    tune::measured one;
    one.value = one.seconds = 1;
    return one;
  }
  unsigned runs = 0;
};

tune::question four_candidates() {
  tune::question asked;
  asked.candidates = {"unmodified", "mutex", "tatas", "ticket"};
  asked.rounds = 8;
  return asked;
}

}  // namespace

TEST(tune_expected, is_told_once_after_the_first_run) {
  seconds program;
  tune::question asked = four_candidates();
  std::vector<tune::expected_time> told;
  const tune::environment world{[&] { return program.runs; }, [] { return false; }, [](const tune::progress&) {},
                                [&](const tune::expected_time& time) {
                                  EXPECT_EQ(program.runs, 1u);
                                  told.push_back(time);
                                }};
  (void)tune::tune(program, asked, world);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].run_seconds, 1);
  // Four candidates and a proof of two; six sites with four kinds each.
  EXPECT_EQ(told[0].min_seconds, 8 * (4 + 2));
  EXPECT_EQ(told[0].max_seconds, 8 * (4 + 2 + 6 * 4));
  asked.seconds = 100;  // it takes no longer than that
  (void)tune::tune(program, asked, world);
  EXPECT_EQ(told.size(), 1u);
}

TEST(tune_expected, has_no_sites_of_a_workload) {
  tune::question asked = four_candidates();
  asked.by_sites = false;
  EXPECT_EQ(tune::expected(asked, 2).max_seconds, 2 * 8 * (4 + 2));
}

TEST(tune_expected, counts_the_runs_that_count_for_the_reference) {
  tune::question asked = four_candidates();
  asked.by_sites = false;
  asked.counted_reference = "libc";
  EXPECT_EQ(tune::expected(asked, 1).max_seconds, 8 * (4 + 2) + 5 + 5);
  asked.candidates.emplace_back("libc");
  EXPECT_EQ(tune::expected(asked, 1).max_seconds, 8 * (5 + 2) + 5);
}
