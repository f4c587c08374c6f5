// SPDX-License-Identifier: Apache-2.0
// The conformance suite: unlock() lets a waiter in, whatever else goes on, at 1, 2, 4 and 16 threads.
#include <gtest/gtest.h>

#include "every_lock.hpp"
#include "scenarios/handover.hpp"

namespace {

using namespace conformance;

class HandOver : public OnEveryLock {};
INSTANTIATE_TEST_SUITE_P(EveryLock, HandOver, every_lock(), case_name());

TEST_P(HandOver, TryLockTellsTheTruthAndComesBack) {
  EXPECT_EQ(try_lock_tells_the_truth<any_lock>(rounds(400)), "");
  for (const unsigned waiters : {1u, 3u, 14u}) {
    SCOPED_TRACE(waiters);
    EXPECT_EQ(try_lock_among_waiters<any_lock>(waiters, rounds(16)), "");
  }
}

TEST_P(HandOver, UnlockLetsTheWaiterIn) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(relay<any_lock>(threads, rounds(400), waits::short_ones), "");
    EXPECT_EQ(relay<any_lock>(threads, rounds(24), waits::long_ones), "");
  }
}

TEST_P(HandOver, EachWaiterLetsTheNextOneIn) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(chain<any_lock>(threads, rounds(40), waits::short_ones), "");
    EXPECT_EQ(chain<any_lock>(threads, rounds(12), waits::long_ones), "");
  }
}

TEST_P(HandOver, ThreadsMayComeAndGo) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(threads_come_and_go<any_lock>(threads, rounds(160 / threads), 4), "");
  }
}

}  // namespace
