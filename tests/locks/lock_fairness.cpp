// SPDX-License-Identifier: Apache-2.0
// The conformance suite: the order of service where a lock promises one.
#include <gtest/gtest.h>

#include "locks_under_test.hpp"
#include "scenarios/fairness.hpp"

namespace {

using namespace conformance;

template <class Lock>
class StrictlyFifo : public testing::Test {};
TYPED_TEST_SUITE(StrictlyFifo, strictly_fifo_locks, lock_names);

TYPED_TEST(StrictlyFifo, ServesInTheOrderOfArrival) {
  for (const unsigned waiters : {1u, 2u, 4u, 16u}) {
    SCOPED_TRACE(waiters);
    EXPECT_EQ(served_as_arrived<TypeParam>(waiters, rounds(12)), "");
  }
}

template <class Lock>
class BoundedBypass : public testing::Test {};
TYPED_TEST_SUITE(BoundedBypass, bounded_bypass_locks, lock_names);

TYPED_TEST(BoundedBypass, NobodyIsPassedByMoreOftenThanStated) {
  for (const unsigned threads : {2u, 4u, 16u}) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(passed_by_at_most<TypeParam>(TypeParam::bypass_bound(threads), threads, rounds(12)), "");
  }
}

TYPED_TEST(BoundedBypass, TheBoundGrowsWithTheThreads) {
  static_assert(TypeParam::bypass_bound(2) >= 2);
  static_assert(TypeParam::bypass_bound(16) > TypeParam::bypass_bound(4));
}

/// The count itself: nobody can keep a bound of zero behind others that were there before.
TYPED_TEST(BoundedBypass, PassingIsCounted) { EXPECT_NE(passed_by_at_most<TypeParam>(0, 4, 1), ""); }

}  // namespace
