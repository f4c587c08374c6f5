// SPDX-License-Identifier: Apache-2.0
// Which rounds of a benchmark's cells are compared.
#include "locks/compared_rounds.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

namespace b = txsync::benchmarks;
using values = std::vector<double>;

/// A cell with windows: their throughput by round, and lines of these ns before and after each.
b::cell windows_of(unsigned threads, const values& throughput, const values& line_ns) {
  b::cell made{.section = 0, .threads = threads, .subject = 0};
  made.throughput = values(throughput.size(), 1);  // of whole runs: no test expects it beside windows
  made.undisturbed = {throughput, values(throughput.size(), 0.5), line_ns, line_ns};
  return made;
}

b::compared_rounds rounds_of(const b::cell& one, const b::cell& other) {
  const b::cell* const both[] = {&one, &other};
  return b::rounds_of(both);
}

TEST(ComparedRounds, AreWholeRunsUnlessBothHaveWindows) {
  const b::cell with = windows_of(2, {5, 6, 7, 8}, {60, 60, 60, 60});
  b::cell without{.section = 0, .threads = 4, .subject = 0};
  without.throughput = {2, 3, 4};
  const b::compared_rounds seen = rounds_of(with, without);
  EXPECT_EQ(seen.by, b::compared_by::whole_runs);
  EXPECT_EQ(seen.throughput, (std::vector<values>{{1, 1, 1}, {2, 3, 4}}));
}

TEST(ComparedRounds, LeaveOutThoseInWhichOneHasTooFewWindows) {
  const b::cell one = windows_of(1, {0, 2, 3, 4, 5, 6}, {60, 60, 60, 60, 60, 20});
  const b::cell other = windows_of(1, {1, 2, 0, 4, 5, 6}, {60, 60, 60, 60, 60, 200});
  const b::compared_rounds seen = rounds_of(one, other);
  EXPECT_EQ(seen.by, b::compared_by::windows) << "one thread shares no line";
  EXPECT_EQ(seen.throughput, (std::vector<values>{{2, 4, 5, 6}, {2, 4, 5, 6}}));
}

TEST(ComparedRounds, AreOfOneClass) {
  const b::cell one = windows_of(2, {1, 2, 3, 4, 5, 6}, {60, 20, 60, 60, 60, 60});
  const b::cell other = windows_of(2, {1, 2, 3, 4, 5, 6}, {70, 20, 20, 70, 70, 70});
  const b::compared_rounds seen = rounds_of(one, other);
  EXPECT_EQ(seen.by, b::compared_by::far_windows);
  EXPECT_EQ(seen.throughput, (std::vector<values>{{1, 4, 5, 6}, {1, 4, 5, 6}}));
}

TEST(ComparedRounds, AreOfNearCpusWithoutFarOnes) {
  const b::cell one = windows_of(2, {1, 2, 3, 4, 5}, {25, 25, 60, 25, 25});
  const b::compared_rounds seen = rounds_of(one, one);
  EXPECT_EQ(seen.by, b::compared_by::near_windows);
  EXPECT_EQ(seen.throughput[0], (values{1, 2, 4, 5}));
}

TEST(ComparedRounds, AreNotOfCpusThatAreFartherApart) {
  const b::cell one = windows_of(2, {1, 2, 3, 4, 5}, {60, 60, 60, 60, 60});
  const b::cell other = windows_of(2, {1, 2, 3, 4, 5}, {60, 200, 60, 60, 60});
  EXPECT_EQ(rounds_of(one, other).throughput[0], (values{1, 3, 4, 5}));
}

TEST(ComparedRounds, TakeBothLinesOfARun) {
  b::cell one = windows_of(2, {1, 2, 3, 4, 5}, {60, 60, 60, 60, 60});
  one.undisturbed.line_after_ns[2] = 25;
  EXPECT_EQ(rounds_of(one, one).throughput[0], (values{1, 2, 4, 5}));
}

TEST(ComparedRounds, AreNoneWithFewerThanFour) {
  const b::cell one = windows_of(2, {1, 2, 3, 0, 0}, {60, 60, 60, 60, 60});
  const b::compared_rounds seen = rounds_of(one, one);
  EXPECT_EQ(seen.by, b::compared_by::too_few_windows);
  EXPECT_TRUE(seen.throughput[0].empty());
  EXPECT_TRUE(b::ratios_of(one, one).empty());
}

}  // namespace
