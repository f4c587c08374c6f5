// SPDX-License-Identifier: Apache-2.0
// Which windows of a run count, and what was done in them.
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "workloads/harness/stamps.hpp"
#include "workloads/harness/team.hpp"
#include "workloads/harness/windows.hpp"

namespace {

namespace w = txsync::workloads;
using std::uint64_t;
using stamps = std::vector<w::stamp>;

constexpr uint64_t length = 100;
constexpr uint64_t max_gap = 20;

w::window_total windows_of(const std::vector<stamps>& by_thread) {
  const std::vector<std::span<const w::stamp>> views(by_thread.begin(), by_thread.end());
  return w::undisturbed_windows(views, length, max_gap);
}

/// A stamp every `step` from `from` to `to`, with `each` operations between two.
stamps steady(uint64_t from, uint64_t to, uint64_t step, uint64_t each, uint64_t operations = 0) {
  stamps made;
  for (uint64_t at = from; at <= to; at += step, operations += each) made.push_back({at, operations});
  return made;
}

stamps joined(stamps one, const stamps& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

TEST(Windows, CountWholeOnes) {
  const w::window_total all = windows_of({steady(1'000, 1'390, 10, 5)});
  EXPECT_EQ(all.windows, 3U) << "the last 90 are no window";
  EXPECT_EQ(all.operations, 3 * 50);
}

TEST(Windows, LieWhereEveryThreadHasStamps) {
  const w::window_total all = windows_of({steady(0, 350, 10, 1), steady(120, 1'000, 10, 2)});
  EXPECT_EQ(all.windows, 2U) << "from 120 to 320";
  EXPECT_EQ(all.operations, 2 * (10 + 20));
}

TEST(Windows, DoNotCountWithAGapOfAnyThread) {
  // The second thread has a gap from 150 to 500. Without it there would be 10 windows.
  const stamps interrupted = joined(steady(0, 150, 10, 1), steady(500, 1'000, 10, 1, 15));
  const w::window_total all = windows_of({steady(0, 1'000, 10, 1), interrupted});
  EXPECT_EQ(all.windows, 1U + 5) << "0 to 100, and 500 to 1000";
  EXPECT_EQ(all.operations, 6 * 20);
}

TEST(Windows, TakeGapsFromWhicheverThread) {
  const stamps one = joined(steady(0, 200, 10, 1), steady(400, 1'000, 10, 1));
  const stamps other = joined(steady(0, 300, 10, 1), steady(600, 1'000, 10, 1));
  EXPECT_EQ(windows_of({one, other}).windows, 2U + 4) << "200 to 600 is one gap or the other";
  EXPECT_EQ(windows_of({other, one}).windows, 2U + 4);
}

TEST(Windows, BeginAfterTheLongerOfTwoGaps) {
  const stamps one = joined(steady(0, 100, 10, 1), steady(800, 1'000, 10, 1));
  const stamps other = joined(steady(0, 200, 10, 1), steady(300, 1'000, 10, 1));
  EXPECT_EQ(windows_of({one, other}).windows, 1U + 2) << "one gap lies within the other";
}

TEST(Windows, AllowGapsUpToTheBound) {
  EXPECT_EQ(windows_of({steady(0, 400, max_gap, 1)}).windows, 4U);
  EXPECT_EQ(windows_of({steady(0, 420, max_gap + 1, 1)}).windows, 0U);
}

TEST(Windows, DivideWhatLiesAcrossTheirEdges) {
  // Stamps at 0, 16, 32, ...: neither 100 nor 200 is one.
  const w::window_total all = windows_of({steady(0, 208, 16, 32), steady(8, 216, 16, 48)});
  EXPECT_EQ(all.windows, 2U) << "8 to 208";
  EXPECT_DOUBLE_EQ(all.operations, (2 + 3) * 200) << "what is added at one edge is not taken away at the other";
}

TEST(Windows, AreNoneWithoutStamps) {
  EXPECT_EQ(windows_of({}).windows, 0U);
  EXPECT_EQ(windows_of({steady(0, 1'000, 10, 1), {}}).windows, 0U);
  EXPECT_EQ(windows_of({steady(0, 1'000, 10, 1), {{500, 7}}}).windows, 0U);
}

TEST(Stamps, ComeInTheTimeThatIsAimedAt) {
  EXPECT_EQ(w::next_stride(100, 1'000, 1'000), 100U);
  EXPECT_EQ(w::next_stride(100, 4'000, 1'000), 25U) << "slower: at once";
  EXPECT_EQ(w::next_stride(100, 10, 1'000), 200U) << "faster: by and by";
  EXPECT_EQ(w::next_stride(1, 1'000'000, 1'000), 1U);
  EXPECT_EQ(w::next_stride(1, 0, 1'000), 2U);
}

TEST(Stamps, AreKeptWhileThereIsRoom) {
  w::stamp room[2] = {};
  w::stamp_log log{.first = room, .room = 2, .aimed_cycles = 10};
  for (uint64_t i = 1; i <= 4; ++i) log.add({i, i}, i != 1);
  EXPECT_EQ(log.count, 2U);
  EXPECT_EQ(room[0].operations, 2U) << "the first one did not count";
  EXPECT_EQ(room[1].operations, 3U);
}

struct nothing {};
void count_only(w::worker& me, nothing&) {
  me.wait_for_start();
  while (me.more()) {
    me.begin();
    me.finish();
  }
}

TEST(Stamps, AscendToWhatTheThreadHasDone) {
  w::stamp room[2][40];
  w::stamp_log logs[2];
  for (unsigned thread = 0; thread < 2; ++thread)
    logs[thread] = {.first = room[thread], .room = 40, .aimed_cycles = 1'000};
  nothing shared;
  const w::plan how{.threads = 2, .operations = 100'000, .stamps_by_thread = logs};
  EXPECT_EQ(w::run_team<count_only>(how, shared).seen.operations, 200'000U);
  for (const w::stamp_log& one : logs) {
    ASSERT_GT(one.count, 1U);
    EXPECT_EQ(one.first[0].operations, 1U) << "the first stamp comes after the first operation";
    for (std::size_t i = 1; i < one.count; ++i) {
      EXPECT_GT(one.first[i].operations, one.first[i - 1].operations);
      EXPECT_GE(one.first[i].cycles, one.first[i - 1].cycles);
    }
    EXPECT_LT(one.first[one.count - 1].operations, 100'000U);
  }
}

}  // namespace
