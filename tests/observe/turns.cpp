// SPDX-License-Identifier: Apache-2.0
// Which thread at a site is the slowest, and its share.
#include "observe/turns.hpp"

#include <gtest/gtest.h>

namespace observe = txsync::observe;
using observe::thread_turns;

namespace {

constexpr std::uint64_t run_ns = 1'000'000'000;

std::vector<thread_turns> compared(std::vector<thread_turns> all) { return observe::compared_threads(all, run_ns); }

}  // namespace

TEST(turns, threads_that_hardly_come_are_not_compared) {
  // The first takes the lock twice, like a thread that starts others.
  const auto threads = compared({{2, 1000}, {50'000, 0}, {16, 0}, {3, run_ns / 100}});
  ASSERT_EQ(threads.size(), 3u);
  EXPECT_EQ(threads[0].turns, 3u);
  EXPECT_EQ(threads[1].turns, 16u);
  EXPECT_EQ(threads[2].turns, 50'000u);
}

TEST(turns, the_slowest_is_one_that_waits) {
  // The thread with 100 turns asks seldom: it waits for a hundredth of the run.
  const auto threads = compared({{9000, run_ns / 2}, {100, run_ns / 100}, {900, run_ns / 10}});
  const auto slow = observe::slowest_thread(threads, run_ns);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->rank, 1u);
  EXPECT_EQ(slow->threads, 3u);
  EXPECT_EQ(slow->wait_ns, run_ns / 10);
  EXPECT_DOUBLE_EQ(slow->share, 0.09);
}

TEST(turns, a_thread_that_never_came_in_is_the_slowest) {
  const auto slow = observe::slowest_thread(compared({{0, run_ns}, {5000, 0}}), run_ns);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->rank, 0u);
  EXPECT_EQ(slow->share, 0);
}

TEST(turns, nobody_is_slow_where_nobody_waits_or_nobody_else_comes) {
  EXPECT_FALSE(observe::slowest_thread(compared({{100, 0}, {5000, run_ns / 11}}), run_ns));
  EXPECT_FALSE(observe::slowest_thread(compared({{100, run_ns}}), run_ns));
  EXPECT_FALSE(observe::slowest_thread(compared({}), run_ns));
}

TEST(turns, shares_of_ranks) {
  const auto threads = compared({{300, 0}, {100, 0}, {600, 0}});
  EXPECT_DOUBLE_EQ(observe::share_of_rank(threads, 0), 0.1);
  EXPECT_DOUBLE_EQ(observe::share_of_rank(threads, 2), 0.6);
  EXPECT_DOUBLE_EQ(observe::share_of_rank(threads, 7), 0.6);
  EXPECT_EQ(observe::share_of_rank({}, 0), 0);
}
