// SPDX-License-Identifier: Apache-2.0
// The conformance suite: one thread at a time, at 1, 2, 4 and 16 threads.
#include <gtest/gtest.h>

#include "locks_under_test.hpp"
#include "scenarios/exclusion.hpp"

namespace {

using namespace conformance;

template <class Lock>
class Exclusion : public testing::Test {};
TYPED_TEST_SUITE(Exclusion, exclusive_locks, lock_names);

TYPED_TEST(Exclusion, OneThreadAtATime) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(exclusion<TypeParam>(threads, rounds_each<TypeParam>(threads, 40'000), inside::nothing), "");
    EXPECT_EQ(exclusion<TypeParam>(threads, rounds_each<TypeParam>(threads, 8'000), inside::work), "");
    EXPECT_EQ(exclusion<TypeParam>(threads, rounds_each<TypeParam>(threads, 8'000), inside::yield), "");
    EXPECT_EQ(exclusion<TypeParam>(threads, rounds_each<TypeParam>(threads, 240), inside::sleep), "");
  }
}

TYPED_TEST(Exclusion, OneThreadAtATimeByTryLockToo) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(mixed_exclusion<TypeParam>(threads, rounds_each<TypeParam>(threads, 20'000), inside::nothing), "");
    EXPECT_EQ(mixed_exclusion<TypeParam>(threads, rounds_each<TypeParam>(threads, 8'000), inside::work), "");
    EXPECT_EQ(mixed_exclusion<TypeParam>(threads, rounds_each<TypeParam>(threads, 240), inside::sleep), "");
  }
}

TYPED_TEST(Exclusion, ExceptionsLeaveItFree) {
  EXPECT_EQ(exceptions_unlock<TypeParam>(1, rounds(400)), "");
  EXPECT_EQ(exceptions_unlock<TypeParam>(4, rounds(200)), "");
}

TYPED_TEST(Exclusion, TwoAtOnceWithoutDeadlock) {
  EXPECT_EQ(two_locks<TypeParam>(2, rounds(2'000)), "");
  EXPECT_EQ(two_locks<TypeParam>(4, rounds(400)), "");
}

}  // namespace
