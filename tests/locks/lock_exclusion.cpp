// SPDX-License-Identifier: Apache-2.0
// The conformance suite: one thread at a time, at 1, 2, 4 and 16 threads.
#include <gtest/gtest.h>

#include "every_lock.hpp"
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

class SectionsOf : public OnEveryLock {};
INSTANTIATE_TEST_SUITE_P(EveryLock, SectionsOf, every_lock(), kind_name);

TEST_P(SectionsOf, ExceptionsLeaveItFree) {
  EXPECT_EQ(exceptions_unlock<any_lock>(1, rounds(400)), "");
  EXPECT_EQ(exceptions_unlock<any_lock>(4, rounds(200)), "");
}

TEST_P(SectionsOf, TwoAtOnceWithoutDeadlock) {
  EXPECT_EQ(two_locks<any_lock>(2, rounds(2'000)), "");
  EXPECT_EQ(two_locks<any_lock>(4, rounds(400)), "");
}

}  // namespace
