// SPDX-License-Identifier: Apache-2.0
// The conformance suite: unlock() lets a waiter in, whatever else goes on, at 1, 2, 4 and 16 threads.
#include <gtest/gtest.h>

#include "locks_under_test.hpp"
#include "scenarios/handover.hpp"

namespace {

using namespace conformance;

template <class Lock>
class HandOver : public testing::Test {};
TYPED_TEST_SUITE(HandOver, exclusive_locks, lock_names);

TYPED_TEST(HandOver, TryLockTellsTheTruthAndComesBack) {
  EXPECT_EQ(try_lock_tells_the_truth<TypeParam>(rounds(400)), "");
  for (const unsigned waiters : {1u, 3u, 14u}) {
    SCOPED_TRACE(waiters);
    EXPECT_EQ(try_lock_among_waiters<TypeParam>(waiters, rounds(16)), "");
  }
}

TYPED_TEST(HandOver, UnlockLetsTheWaiterIn) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(relay<TypeParam>(threads, rounds(400), waits::short_ones), "");
    EXPECT_EQ(relay<TypeParam>(threads, rounds(24), waits::long_ones), "");
  }
}

TYPED_TEST(HandOver, EachWaiterLetsTheNextOneIn) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(chain<TypeParam>(threads, rounds(40), waits::short_ones), "");
    EXPECT_EQ(chain<TypeParam>(threads, rounds(12), waits::long_ones), "");
  }
}

TYPED_TEST(HandOver, ThreadsMayComeAndGo) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(threads_come_and_go<TypeParam>(threads, rounds(160 / threads), 4), "");
  }
}

}  // namespace
