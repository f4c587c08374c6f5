// SPDX-License-Identifier: Apache-2.0
// The conformance suite: barriers, at 1, 2, 4 and 16 threads, with std::barrier as control.
#include <gtest/gtest.h>

#include <barrier>
#include <type_traits>

#include <txsync/barrier.hpp>
#include <txsync/speculate/warm_barrier.hpp>

#include "scenarios/phases.hpp"

namespace {

using namespace conformance;

template <class Barrier>
class Barriers : public testing::Test {};

struct barrier_names {
  template <class Barrier>
  static std::string GetName(int) {
    if (std::is_same_v<Barrier, txsync::warm_barrier>) return "warm_barrier";
    return std::is_same_v<Barrier, txsync::barrier> ? "barrier" : "std_barrier";
  }
};
using barriers = testing::Types<std::barrier<>, txsync::barrier, txsync::warm_barrier>;
TYPED_TEST_SUITE(Barriers, barriers, barrier_names);

TYPED_TEST(Barriers, NobodyLeavesBeforeAllHaveCome) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(phases<TypeParam>(threads, rounds(oversubscribed(threads) ? 400 : 4'000), pace::together), "");
    EXPECT_EQ(phases<TypeParam>(threads, rounds(80), pace::one_late), "");
    EXPECT_EQ(phases<TypeParam>(threads, rounds(40), pace::all_late), "");
  }
}

TYPED_TEST(Barriers, ServesManyThreads) { EXPECT_EQ(phases<TypeParam>(64, rounds(16), pace::together), ""); }

TYPED_TEST(Barriers, MayBeDestroyedWhenAllHaveReturned) {
  EXPECT_EQ(used_and_destroyed<TypeParam>(2, rounds(40)), "");
  EXPECT_EQ(used_and_destroyed<TypeParam>(8, rounds(20)), "");
}

constinit txsync::barrier static_barrier{1};

TEST(Barrier, IsConstantInitialisedAndOfTheStatedSize) {
  for (int phase = 0; phase < 1000; ++phase) ASSERT_TRUE(static_barrier.arrive_and_wait()) << "alone is the last";
  EXPECT_EQ(sizeof(txsync::barrier), 256u);
  static_assert(std::is_trivially_destructible_v<txsync::barrier>);
  static_assert(!std::is_copy_constructible_v<txsync::barrier> && !std::is_move_constructible_v<txsync::barrier>);
}

}  // namespace
