// SPDX-License-Identifier: Apache-2.0
// A broken requirement ends a program that has assertions, with the sentence. Compiled for the scripted machine, which
// has them in each build, and for the native one where it has them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include <txsync/condition_variable.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/guarded.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/mutex.hpp>
#include <txsync/policy_mutex.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/warming.hpp>
#include <txsync/tm.hpp>
#include <txsync/tm/linked_list.hpp>

namespace {

using namespace txsync;

static_assert(TXSYNC_ASSERTIONS == 1);

/// What the line says before and after the function.
std::string line_of(const std::string& function, const std::string& sentence) {
  return "txsync: .*:[0-9]+: " + function + "\\(\\): this does not hold: " + sentence + "\n";
}

template <class Lock>
void unlock_a_free_lock() {
  static Lock lock;
  EXPECT_DEATH(lock.unlock(), line_of("unlock", "the calling thread holds the lock"));
}

TEST(assertions, unlock_of_a_free_tatas_lock) { unlock_a_free_lock<tatas_lock>(); }
TEST(assertions, unlock_of_a_free_priority_tatas_lock) { unlock_a_free_lock<priority_tatas_lock>(); }
TEST(assertions, unlock_of_a_free_futex_mutex) { unlock_a_free_lock<futex_mutex>(); }
TEST(assertions, unlock_of_a_free_spinning_mutex) { unlock_a_free_lock<spinning_mutex>(); }
TEST(assertions, unlock_of_a_free_fifo_ticket_lock) { unlock_a_free_lock<fifo_ticket_lock>(); }
TEST(assertions, unlock_of_a_free_mutex) { unlock_a_free_lock<mutex>(); }

TEST(assertions, unlock_of_a_free_ticket_lock) {
  static ticket_lock lock;
  EXPECT_DEATH(lock.unlock(), "this does not hold: the calling thread holds the lock, also behind the limiter");
}

TEST(assertions, second_unlock) {
  static mutex lock;
  lock.lock();
  lock.unlock();
  EXPECT_DEATH(lock.unlock(), "this does not hold: the calling thread holds the lock");
}

TEST(assertions, unlock_by_a_node_without_a_turn) {
  static fifo_mcs_lock lock;
  static fifo_mcs_lock::node mine;
  EXPECT_DEATH(lock.unlock(mine), line_of("unlock", "the calling thread holds the lock with this node"));
}

TEST(assertions, unlock_in_the_wrong_mode) {
  static futex_rwlock lock;
  lock.lock_shared();
  EXPECT_DEATH(lock.unlock(), line_of("unlock", "the calling thread is the active writer"));
  lock.unlock_shared();
  EXPECT_DEATH(lock.unlock_shared(), line_of("unlock_shared", "the calling thread is an active reader"));
}

TEST(assertions, unlock_of_a_free_shared_mutex) {
  static shared_mutex lock;
  EXPECT_DEATH(lock.unlock(), line_of("unlock", "the calling thread holds the lock exclusively"));
  EXPECT_DEATH(lock.unlock_shared(), line_of("unlock_shared", "the calling thread holds the lock shared"));
  EXPECT_DEATH(lock.unlock_fair(), line_of("unlock_fair", "the calling thread holds exclusively what it hands over"));
}

TEST(assertions, downgrade_of_a_latch_that_is_shared) {
  static srwlock latch;
  latch.lock_shared();
  EXPECT_DEATH(latch.downgrade(),
               line_of("downgrade", "the calling thread holds exclusively the latch that it downgrades"));
  latch.unlock_shared();
}

TEST(assertions, wait_without_the_lock) {
  static condition_variable condition;
  static tatas_lock lock;
  EXPECT_DEATH((void)condition.wait_with(lock, 1), "the calling thread holds the lock that it waits with");
}

TEST(assertions, join_of_a_thread_that_was_not_started) {
  EXPECT_DEATH(machine::thread().join(), line_of("join", "the thread was started, and not yet joined"));
}

TEST(assertions, leaving_a_guarded_body_outside_of_one) {
  EXPECT_DEATH(machine::leave_guarded(), line_of("leave_guarded", "the calling thread runs a guarded body"));
}

TEST(assertions, cause_of_an_attempt_that_runs) {
  const machine::attempt_status status{machine::attempt_status::started_value};
  EXPECT_DEATH((void)status.cause(), line_of("cause", "an attempt that runs has no cause of an abort"));
}

TEST(assertions, erasing_no_element) {
  static tm::linked_list<int> list;
  static tm::block here{"erasing"};
  EXPECT_DEATH(tm::atomically(here, [](auto& tx) { list.erase(tx, {}); }), "what is erased is an element of the list");
}

TEST(assertions, nothing_happens_while_requirements_hold) {
  bool looked = false;
  TXSYNC_ASSERT(looked = true, "the condition is evaluated");
  EXPECT_TRUE(looked);
  tatas_lock lock;
  lock.lock();
  lock.unlock();
}

}  // namespace
