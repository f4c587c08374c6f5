// SPDX-License-Identifier: Apache-2.0
// Sections in attempts, on the scripted machine: how they begin, nest, end, fall back, and what an abort leaves behind.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include <machine/scripted/script.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/speculate/elided.hpp>

#include "unlearnt.hpp"

namespace {

namespace machine = txsync::machine;
namespace presets = txsync::elision_presets;
using machine::attempt_status;
using txsync::elided;
using txsync::on_commit;
using txsync::scoped_site;
using txsync::tatas_lock;
using txsync::script::counts;
using txsync::script::machine_script;
using txsync::script::plan;

class ElidedSections : public testing::Test {
 protected:
  ElidedSections() { have_unlearnt_rtm(script); }
  void expect(std::uint64_t begins, std::uint64_t commits) {
    const counts seen = script.counted();
    EXPECT_EQ(seen.begins, begins);
    EXPECT_EQ(seen.commits, commits);
    EXPECT_FALSE(machine::active());
    EXPECT_FALSE(txsync::detail::in_elided_attempt());
  }

  machine_script script;
  scoped_site place{presets::eager};
};

using Lock = elided<tatas_lock>;

TEST_F(ElidedSections, RunInAnAttemptWithoutTheLock) {
  Lock lock(place);
  lock.lock();
  EXPECT_TRUE(machine::active());
  lock.unlock();
  expect(1, 1);
}

TEST_F(ElidedSections, TakeTheLockWithoutTransactions) {
  script.begin_is(txsync::script::begin_nature::always_aborts);
  Lock lock(place);
  lock.lock();
  EXPECT_FALSE(machine::active());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
  expect(0, 0);
}

TEST_F(ElidedSections, NestAsOneAttempt) {
  Lock outer(place);
  Lock inner(place);
  outer.lock();
  inner.lock();
  outer.unlock();  // in any order
  EXPECT_TRUE(machine::active());
  inner.unlock();
  expect(1, 1);
}

TEST_F(ElidedSections, TooDeepNestingTakesTheLock) {
  std::vector<std::unique_ptr<Lock>> locks;
  for (unsigned i = 0; i <= txsync::detail::attempt_frame::max_sections; ++i)
    locks.push_back(std::make_unique<Lock>(place));
  for (auto& one : locks) one->lock();
  // The outermost is held by the thread; the others are in an attempt of their own.
  EXPECT_FALSE(locks.front()->try_lock());
  for (auto& one : locks) one->unlock();
  expect(2, 1);
}

TEST_F(ElidedSections, InnerLockThatIsHeldIsNoDeadlock) {
  Lock outer(place);
  Lock inner(place);
  script.on_begin(plan::aborts(0));
  inner.lock();  // really
  EXPECT_FALSE(machine::active());
  outer.lock();
  EXPECT_TRUE(machine::active());
  inner.unlock();  // within the attempt of another lock
  outer.unlock();
  expect(2, 1);
}

TEST_F(ElidedSections, AnAbortForgetsTheSection) {
  Lock lock(place);
  script.on_begin(
      {plan::aborts_at_end(attempt_status::conflict_bit | attempt_status::retry_bit), plan::aborts_at_end(0)});
  volatile int runs = 0;
  lock.lock();
  runs = runs + 1;
  lock.unlock();  // comes back to lock() twice
  expect(2, 0);
  EXPECT_EQ(runs, 1);  // the stack is put back: the last run, with the lock
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST_F(ElidedSections, TryLockIsElidedToo) {
  Lock lock(place);
  ASSERT_TRUE(lock.try_lock());
  EXPECT_TRUE(machine::active());
  EXPECT_FALSE(lock.try_lock());  // the thread's own section, as with the lock itself
  lock.unlock();
  expect(1, 1);
  script.on_begin(plan::aborts(attempt_status::conflict_bit));
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(machine::active());
  lock.unlock();
  expect(2, 1);
}

TEST_F(ElidedSections, TryLockTellsThatTheLockIsHeld) {
  Lock lock(place);
  script.on_begin(plan::aborts(0));
  lock.lock();
  EXPECT_FALSE(lock.try_lock());  // by looking, in an attempt that commits
  expect(2, 1);
  lock.unlock();
}

TEST_F(ElidedSections, NodeLocksHaveTheirAttempt) {
  txsync::elided_with_node<txsync::mcs_lock> lock(place);
  txsync::mcs_lock::node node;
  ASSERT_TRUE(lock.try_lock(node));
  EXPECT_TRUE(machine::active());
  lock.unlock(node);
  script.on_begin(plan::aborts(0));
  lock.lock(node);
  txsync::mcs_lock::node other;
  EXPECT_FALSE(lock.try_lock(other));
  lock.unlock(node);
}

TEST_F(ElidedSections, DoubleUnlockIsToldAndHarmless) {
  script.clock_by_hand(10'000'000'000);
  Lock lock(place);
  testing::internal::CaptureStderr();
  lock.lock();
  lock.unlock();
  lock.unlock();
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("unlock of a lock that the thread does not hold"), std::string::npos) << told;
  expect(1, 1);
  lock.lock();
  EXPECT_TRUE(machine::active());
  lock.unlock();
}

TEST_F(ElidedSections, DoubleUnlockInAnotherSectionIsToldOutsideAttempts) {
  script.clock_by_hand(20'000'000'000);
  Lock lock(place);
  Lock other(place);
  testing::internal::CaptureStderr();
  other.lock();
  lock.unlock();  // never locked
  EXPECT_FALSE(machine::active());
  other.unlock();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("does not hold"), std::string::npos);
  expect(1, 0);
}

TEST_F(ElidedSections, DoubleUnlockByANodeIsToldWhileAnotherHoldsTheLock) {
  script.clock_by_hand(30'000'000'000);
  txsync::elided_with_node<txsync::mcs_lock> lock(place);
  txsync::mcs_lock::node twice;
  txsync::mcs_lock::node failed;
  txsync::mcs_lock::node holder;
  script.on_begin({plan::aborts(0), plan::commits(), plan::aborts(0), plan::aborts(0)});
  lock.lock(twice);  // really
  lock.unlock(twice);
  lock.lock(twice);  // in an attempt, which leaves the node alone
  lock.unlock(twice);
  lock.lock(holder);
  EXPECT_FALSE(lock.try_lock(failed));
  for (txsync::mcs_lock::node* const one : {&twice, &failed}) {
    testing::internal::CaptureStderr();
    lock.unlock(*one);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("does not hold"), std::string::npos);
    script.advance(2'000'000'000);
  }
  EXPECT_FALSE(lock.try_lock(failed)) << "the holder's section has ended";
  lock.unlock(holder);
  EXPECT_TRUE(lock.try_lock(failed));
  lock.unlock(failed);
}

TEST_F(ElidedSections, DoubleUnlockOfTheSystemsMutexIsToldWithoutTransactions) {
  script.clock_by_hand(40'000'000'000);
  script.begin_is(txsync::script::begin_nature::always_aborts);
  elided<txsync::posix_mutex_with_word> lock(place);
  lock.lock();
  lock.unlock();
  testing::internal::CaptureStderr();
  lock.unlock();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("does not hold"), std::string::npos);
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

// ---- what is done after the commit

std::vector<int>* order = nullptr;
struct note {
  int what;
  void operator()() const noexcept {
    order->push_back(what);
    EXPECT_FALSE(machine::active());
  }
};

class CommitActions : public ElidedSections {
 protected:
  CommitActions() { order = &seen; }
  std::vector<int> seen;
};

TEST_F(CommitActions, RunAtOnceOutsideOfSections) {
  on_commit(note{1});
  EXPECT_EQ(seen, std::vector<int>{1});
}

TEST_F(CommitActions, RunInOrderAfterTheOutermostSection) {
  Lock outer(place);
  Lock inner(place);
  outer.lock();
  on_commit(note{1});
  inner.lock();
  on_commit(note{2});
  inner.unlock();
  EXPECT_TRUE(seen.empty());
  outer.unlock();
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
}

TEST_F(CommitActions, OfAnAbortedAttemptAreForgotten) {
  Lock lock(place);
  script.on_begin(plan::aborts_at_end(0));
  txsync::elided_guard guard(lock);
  on_commit(note{1});
}

TEST_F(CommitActions, RunWhenAGuardHasReleasedTheLock) {
  Lock lock(place);
  Lock inner(place);
  script.on_begin(plan::aborts_at_end(0));
  {
    const txsync::elided_guard guard(lock);  // tried for nothing: the section runs twice
    on_commit(note{1});
    {
      const txsync::elided_guard within(inner);
      on_commit(note{2});
    }
  }
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
  on_commit(note{3});
  EXPECT_EQ(seen.back(), 3);
}

TEST_F(CommitActions, WaitForTheOutermostOfVeryManyGuards) {
  script.begin_is(txsync::script::begin_nature::always_aborts);
  std::deque<Lock> locks;
  std::deque<txsync::elided_guard<Lock>> guards;
  for (unsigned i = 0; i < 65'536; ++i) guards.emplace_back(locks.emplace_back(place));
  on_commit(note{1});
  for (; !guards.empty(); guards.pop_back()) EXPECT_TRUE(seen.empty());
  EXPECT_EQ(seen, std::vector<int>{1});
}

TEST_F(CommitActions, MoreThanThereIsRoomForFallBack) {
  Lock lock(place);
  {
    const txsync::elided_guard guard(lock);
    for (int i = 0; i < 20; ++i) on_commit(note{i});
    EXPECT_FALSE(machine::active());
  }
  ASSERT_EQ(seen.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
  expect(1, 0);
}

// Ready before any constructor of static storage runs.
constinit elided<tatas_lock> without_site;
constinit txsync::elided_with_node<txsync::mcs_lock> with_node_without_site;

TEST(ElidedLock, WithoutASiteNeedsNoConstructor) {
  EXPECT_EQ(&without_site.get_site(), &txsync::site::unnamed());
  EXPECT_EQ(&with_node_without_site.get_site(), &txsync::site::unnamed());
}

}  // namespace
