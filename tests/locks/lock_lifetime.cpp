// SPDX-License-Identifier: Apache-2.0
// The conformance suite: the beginning and the end of a lock, and what the standard demands of its type.
#include <gtest/gtest.h>

#include <mutex>
#include <type_traits>

#include "every_lock.hpp"
#include "scenarios/lifetime.hpp"

namespace {

using namespace conformance;

template <class Lock>
class Lifetime : public testing::Test {};
TYPED_TEST_SUITE(Lifetime, exclusive_locks, lock_names);

template <class Lock>
constinit Lock static_lock;

template <class Lock>
concept lockable = requires(Lock& lock) {
  lock.lock();
  { lock.try_lock() } -> std::same_as<bool>;
  lock.unlock();
};

TYPED_TEST(Lifetime, LivesAgainInPlace) {
  EXPECT_EQ(sizeof(TypeParam), promises<TypeParam>::bytes) << "as its header says";
  EXPECT_EQ(lives_again_in_place<TypeParam>(rounds(1'000)), "");
  if constexpr (promises<TypeParam>::trivially_destructible) {
    static_assert(std::is_trivially_destructible_v<TypeParam>);
  }
  static_assert(!std::is_copy_constructible_v<TypeParam> && !std::is_copy_assignable_v<TypeParam>);
  static_assert(!std::is_move_constructible_v<TypeParam> && !std::is_move_assignable_v<TypeParam>);
}

TYPED_TEST(Lifetime, NeedsNoConstructor) {
  if constexpr (promises<TypeParam>::zero_is_unlocked) {
    EXPECT_EQ(zero_bytes_are_a_lock<TypeParam>(1, rounds(1'000)), "");
    EXPECT_EQ(zero_bytes_are_a_lock<TypeParam>(4, rounds(200)), "");
  }
  if constexpr (promises<TypeParam>::static_initialisation) {
    holder<TypeParam> hold(static_lock<TypeParam>);
    EXPECT_TRUE(try_free_lock(hold));
    hold.unlock();
  }
  if (!promises<TypeParam>::zero_is_unlocked && !promises<TypeParam>::static_initialisation) {
    GTEST_SKIP() << "not promised";
  }
}

class EndOf : public OnEveryLock {};
INSTANTIATE_TEST_SUITE_P(EveryLock, EndOf, every_lock(), kind_name);

TEST_P(EndOf, ALockByTheNextOwner) {
  if (!GetParam()->next_owner_may_destroy) GTEST_SKIP() << "not promised";
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    const unsigned objects = rounds_each(GetParam()->strictly_fifo, threads, 8'000);
    EXPECT_EQ((last_one_destroys<any_lock, from_heap>(threads, objects)), "");
    EXPECT_EQ((last_one_destroys<any_lock, from_pages>(threads, objects / 8 + 1)), "");
  }
}

TEST_P(EndOf, WorksInTheChildOfAFork) {
  EXPECT_EQ(works_after_fork<any_lock>(1, rounds(1'000)), "");
  EXPECT_EQ(works_after_fork<any_lock>(4, rounds(200)), "");
}

TYPED_TEST(Lifetime, WorksWithTheGuardsOfTheStandard) {
  TypeParam lock;
  holder<TypeParam> hold(lock);
  static_assert(lockable<holder<TypeParam>>);
  {
    const std::lock_guard guard(hold);
  }
  {
    std::unique_lock guard(hold, std::defer_lock);
    EXPECT_FALSE(guard.owns_lock());
    guard.lock();
    guard.unlock();
  }
  if constexpr (promises<TypeParam>::lockable) {
    static_assert(lockable<TypeParam>);
    {
      const std::lock_guard guard(lock);
    }
    {
      const std::scoped_lock guard(lock);
    }
    std::unique_lock guard(lock, std::try_to_lock);
    if constexpr (promises<TypeParam>::tries_on_free == 1) {
      EXPECT_TRUE(guard.owns_lock());
    }
    if (!guard.owns_lock()) guard.lock();
    std::unique_lock moved(std::move(guard));
    EXPECT_EQ(moved.release(), &lock);
    {
      const std::lock_guard adopted(lock, std::adopt_lock);
    }
    EXPECT_TRUE(try_free_lock(hold)) << "it is free again";
    lock.unlock();
  }
}

}  // namespace
