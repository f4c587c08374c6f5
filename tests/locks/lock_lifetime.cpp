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
constinit Lock static_lock;

template <class Lock>
concept lockable = requires(Lock& lock) {
  lock.lock();
  { lock.try_lock() } -> std::same_as<bool>;
  lock.unlock();
};

template <class Lock>
violation is_of_the_stated_type(unsigned times) {
  static_assert(sizeof(Lock) == promises<Lock>::bytes, "as its header says");
  static_assert(std::is_trivially_destructible_v<Lock> || !promises<Lock>::trivially_destructible);
  static_assert(!std::is_copy_constructible_v<Lock> && !std::is_copy_assignable_v<Lock>);
  static_assert(!std::is_move_constructible_v<Lock> && !std::is_move_assignable_v<Lock>);
  return lives_again_in_place<Lock>(times);
}

template <class Lock>
violation works_in_zero_bytes(unsigned threads, unsigned sections) {
  if constexpr (promises<Lock>::zero_is_unlocked) return zero_bytes_are_a_lock<Lock>(threads, sections);
  return "not promised";
}

template <class Lock>
violation works_in_static_memory() {
  if constexpr (promises<Lock>::static_initialisation) {
    holder<Lock> hold(static_lock<Lock>);
    if (!try_free_lock(hold)) return "a lock in static memory is not free";
    hold.unlock();
  }
  return {};
}

template <class Lock>
violation works_with_guards(Lock& lock, holder<Lock>& hold) {
  static_assert(lockable<Lock>);
  {
    const std::lock_guard guard(lock);
  }
  {
    const std::scoped_lock guard(lock);
  }
  std::unique_lock guard(lock, std::try_to_lock);
  if (promises<Lock>::tries_on_free == 1 && !guard.owns_lock()) return "it was free, and the guard did not get it";
  if (!guard.owns_lock()) guard.lock();
  std::unique_lock moved(std::move(guard));
  if (moved.release() != &lock) return "the guard guards another lock";
  {
    const std::lock_guard adopted(lock, std::adopt_lock);
  }
  if (!try_free_lock(hold)) return "it is not free after its guards";
  lock.unlock();
  return {};
}

template <class Lock>
violation works_with_guards_of_the_standard() {
  Lock lock;
  holder<Lock> hold(lock);
  static_assert(lockable<holder<Lock>>);
  {
    const std::lock_guard guard(hold);
  }
  {
    std::unique_lock guard(hold, std::defer_lock);
    if (guard.owns_lock()) return "a deferred guard owns the lock";
    guard.lock();
    guard.unlock();
  }
  if constexpr (promises<Lock>::lockable) return works_with_guards(lock, hold);
  return {};
}

/// Compiled for each lock's own type.
struct lifetime_of {
  const char* name;
  bool zero_is_unlocked;
  bool static_initialisation;
  violation (*lives_again)(unsigned times);
  violation (*zero_bytes)(unsigned threads, unsigned sections);
  violation (*in_static_memory)();
  violation (*with_guards)();
};
template <class Lock>
constexpr lifetime_of typed_lifetime = {promises<Lock>::name,
                                        promises<Lock>::zero_is_unlocked,
                                        promises<Lock>::static_initialisation,
                                        is_of_the_stated_type<Lock>,
                                        works_in_zero_bytes<Lock>,
                                        works_in_static_memory<Lock>,
                                        works_with_guards_of_the_standard<Lock>};

void PrintTo(const lifetime_of* scenarios, std::ostream* out) { *out << scenarios->name; }

class Lifetime : public testing::TestWithParam<const lifetime_of*> {
 protected:
  const lifetime_of& lock = *GetParam();
};
INSTANTIATE_TEST_SUITE_P(EveryLock, Lifetime,
                         one_of_each(exclusive_locks(), []<class Lock>() { return &typed_lifetime<Lock>; }),
                         case_name());

TEST_P(Lifetime, LivesAgainInPlace) { EXPECT_EQ(lock.lives_again(rounds(1'000)), ""); }

TEST_P(Lifetime, NeedsNoConstructor) {
  if (!lock.zero_is_unlocked && !lock.static_initialisation) GTEST_SKIP() << "not promised";
  if (lock.zero_is_unlocked) {
    EXPECT_EQ(lock.zero_bytes(1, rounds(1'000)), "");
    EXPECT_EQ(lock.zero_bytes(4, rounds(200)), "");
  }
  EXPECT_EQ(lock.in_static_memory(), "");
}

TEST_P(Lifetime, WorksWithTheGuardsOfTheStandard) { EXPECT_EQ(lock.with_guards(), ""); }

class EndOf : public OnEveryLock {};
INSTANTIATE_TEST_SUITE_P(EveryLock, EndOf, every_lock(), case_name());

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

}  // namespace
