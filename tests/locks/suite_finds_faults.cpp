// SPDX-License-Identifier: Apache-2.0
// A test of the conformance suite: each lock that is wrong on purpose is found, by the scenario that is there for it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "broken/conditions.hpp"
#include "broken/exclusive.hpp"
#include "broken/shared.hpp"
#include "scenarios/condition.hpp"
#include "scenarios/fairness.hpp"
#include "scenarios/handover.hpp"
#include "scenarios/lifetime.hpp"
#include "scenarios/phases.hpp"
#include "scenarios/reader_writer.hpp"

namespace {

using namespace conformance;

// For what hangs for certain; a hang that is found too early is still one.
constexpr std::chrono::milliseconds little_patience{250};

testing::AssertionResult says(const violation& found, const std::string& part) {
  if (found.find(part) != violation::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << (found.empty() ? "nothing was found" : "found was: " + found);
}

TEST(SuiteFinds, NoExclusion) {
  using lock = broken::no_lock;
  EXPECT_TRUE(says((exclusion<lock, relaxed_field>(2, 50, inside::sleep)), "inside"));
  EXPECT_TRUE(says((exclusion<lock, relaxed_field>(16, 50, inside::sleep)), "inside"));
  EXPECT_NE((mixed_exclusion<lock, relaxed_field>(4, 50, inside::sleep)), "");
  EXPECT_NE((exclusion<broken::look_then_take, relaxed_field>(4, 2'000, inside::sleep)), "");
}

TEST(SuiteFinds, TriesThatLie) {
  EXPECT_TRUE(says(try_lock_tells_the_truth<broken::sometimes_lies>(10, little_patience), "another thread holds"));
  EXPECT_TRUE(says(try_lock_tells_the_truth<broken::no_lock>(10, little_patience), "another thread holds"));
  EXPECT_TRUE(says(try_lock_tells_the_truth<broken::never_tries>(10, little_patience), "failed on a free lock"));
  EXPECT_NE((mixed_exclusion<broken::sometimes_lies, relaxed_field>(4, 500, inside::sleep)), "");
}

TEST(SuiteFinds, TriesThatBlock) {
  EXPECT_TRUE(says(try_lock_tells_the_truth<broken::try_waits>(10, little_patience), "hanging"));
}

TEST(SuiteFinds, TriesThatSpoilTheLock) {
  EXPECT_NE(try_lock_tells_the_truth<broken::try_frees>(10, little_patience), "");
  EXPECT_NE((mixed_exclusion<broken::try_frees, relaxed_field>(4, 500, inside::sleep)), "");
}

TEST(SuiteFinds, LostWakeUps) {
  EXPECT_TRUE(says(relay<broken::nobody_wakes>(2, 10, waits::long_ones, little_patience), "hanging"));
  EXPECT_TRUE(says(relay<broken::wakes_too_early>(2, 10, waits::long_ones, little_patience), "hanging"));
  EXPECT_TRUE(says(chain<broken::nobody_wakes>(4, 10, waits::long_ones, little_patience), "hanging"));
  EXPECT_TRUE(says(chain<broken::wakes_too_early>(4, 10, waits::long_ones, little_patience), "hanging"));
  EXPECT_TRUE(says(chain<broken::forgets_the_second>(4, 50, waits::long_ones, little_patience), "lock() in a chain"));
}

TEST(SuiteFinds, AnOrderThatIsNone) {
  EXPECT_TRUE(says(served_as_arrived<broken::last_come_first_served>(4, 10, little_patience), "was served as number"));
}

TEST(SuiteFindsDeathTest, TouchingWhatIsGone) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto destroy = [](auto memory) {
    (void)last_one_destroys<broken::looks_back, decltype(memory)>(2, 2000, little_patience);
    std::exit(0);
  };
  EXPECT_DEATH(destroy(from_pages()), "");
  if (under_asan) {
    EXPECT_DEATH(destroy(from_heap()), "use-after-free");
  }
}

using broken::without;

TEST(SuiteFinds, NothingWrongWithTheRightSharedLock) {
  using lock = broken::shared_lock<without::nothing>;
  any_shared_lock::next_kind = &shared_kind_of<lock>;
  EXPECT_EQ(readers_meet_inside(4, 10), "");
  EXPECT_EQ((readers_and_writers<lock, relaxed_field>(4, 2, 50, inside::sleep)), "");
  EXPECT_EQ((all_ways_in<lock, relaxed_field>(4, 50, inside::sleep)), "");
  EXPECT_EQ(tries_tell_the_truth(10), "");
  EXPECT_EQ(modes_hand_over(2, 5, waits::long_ones), "");
}

TEST(SuiteFinds, ReadersThatExcludeEachOther) {
  using lock = broken::shared_lock<without::readers_together>;
  any_shared_lock::next_kind = &shared_kind_of<lock>;
  EXPECT_TRUE(says(readers_meet_inside(2, 10, little_patience), "hanging"));
  EXPECT_TRUE(says(tries_tell_the_truth(10, little_patience), "failed beside a reader"));
}

TEST(SuiteFinds, ReadersBesideWriters) {
  using ignores_readers = broken::shared_lock<without::waiting_for_readers>;
  any_shared_lock::next_kind = &shared_kind_of<ignores_readers>;
  EXPECT_NE((readers_and_writers<ignores_readers, relaxed_field>(4, 2, 200, inside::sleep)), "");
  EXPECT_TRUE(says(tries_tell_the_truth(10, little_patience), "beside a reader"));
  using ignores_writers = broken::shared_lock<without::waiting_for_the_writer>;
  any_shared_lock::next_kind = &shared_kind_of<ignores_writers>;
  EXPECT_NE((all_ways_in<ignores_writers, relaxed_field>(4, 200, inside::sleep, little_patience)), "");
  EXPECT_TRUE(says(tries_tell_the_truth(10, little_patience), "beside a writer"));
  using miscounts = broken::shared_lock<without::counting>;
  any_shared_lock::next_kind = &shared_kind_of<miscounts>;
  EXPECT_NE((readers_and_writers<miscounts, relaxed_field>(4, 1, 200, inside::sleep, little_patience)), "");
}

TEST(SuiteFinds, WritersThatNeverGetIn) {
  any_shared_lock::next_kind = &shared_kind_of<broken::shared_lock<without::nothing>>;
  EXPECT_TRUE(says(writer_gets_in(4, 50, little_patience), "lock() against readers without end"));
}

using broken::condition_fault;
template <condition_fault Fault>
void take_pair() {
  any_mutex::next_kind = &pair_kind_of<broken::pair_with<Fault>>;
}

TEST(SuiteFinds, NothingWrongWithTheRightCondition) {
  take_pair<condition_fault::none>();
  EXPECT_EQ(turns(4, 50, notifies::inside), "");
  EXPECT_EQ(bounded_buffer(2, 2, 200, notifies::outside), "");
  EXPECT_EQ(one_feeds_one(4, 20, notifies::outside), "");
  EXPECT_EQ(all_are_told(4, 50, notifies::inside), "");
  EXPECT_EQ(timed_storm(4, 50), "");
}

TEST(SuiteFinds, LostNotifications) {
  take_pair<condition_fault::looks_too_late>();
  EXPECT_TRUE(says(turns(2, 50, notifies::inside, little_patience), "hanging"));
  EXPECT_TRUE(says(all_are_told(4, 50, notifies::inside, little_patience), "hanging"));
  take_pair<condition_fault::drops_every_fourth>();
  EXPECT_TRUE(says(turns(4, 50, notifies::outside, little_patience), "hanging"));
  EXPECT_TRUE(says(one_feeds_one(2, 2'000, notifies::inside, little_patience), "hanging"));
  take_pair<condition_fault::wakes_one_of_all>();
  EXPECT_TRUE(says(all_are_told(4, 50, notifies::inside, little_patience), "hanging"));
}

TEST(SuiteFinds, WaitsThatMistreatTheLock) {
  take_pair<condition_fault::keeps_the_lock>();
  EXPECT_TRUE(says(turns(2, 10, notifies::inside, little_patience), "hanging"));
  if (under_tsan) return;  // it would find the races that follow
  take_pair<condition_fault::returns_without_the_lock>();
  EXPECT_NE(turns(2, 10, notifies::inside, little_patience), "");
}

using broken::barrier_fault;

TEST(SuiteFinds, WrongBarriers) {
  EXPECT_EQ((phases<broken::barrier<barrier_fault::none>, relaxed_field>(4, 50, pace::one_late)), "");
  EXPECT_NE((phases<broken::barrier<barrier_fault::lets_go_one_too_early>, relaxed_field>(4, 50, pace::one_late,
                                                                                          little_patience)),
            "");
  EXPECT_NE((phases<broken::barrier<barrier_fault::is_open_after_once>, relaxed_field>(4, 50, pace::one_late,
                                                                                       little_patience)),
            "");
  EXPECT_TRUE(says(
      (phases<broken::barrier<barrier_fault::tells_everybody>, relaxed_field>(4, 50, pace::together, little_patience)),
      "were told that they were the last"));
}

}  // namespace
