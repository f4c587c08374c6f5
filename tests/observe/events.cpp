// SPDX-License-Identifier: Apache-2.0
// What a listener is told of waits.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/mutex.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/observe/events.hpp>
#include <txsync/shared_mutex.hpp>

#include "site_totals.hpp"

namespace {

namespace machine = txsync::machine;
namespace observe = txsync::observe;
using observe::event;
using observe::event_kind;

constinit txsync::site place{"events.place"};

/// What the thread has been told.
thread_local std::vector<event> mine;

void keep(const event& what) noexcept { mine.push_back(what); }

std::atomic<unsigned> seen_begins{0};
void keep_and_count(const event& what) noexcept {
  keep(what);
  if (what.kind == event_kind::wait_begin) seen_begins.fetch_add(1);
}

class Events : public testing::Test {
 protected:
  Events() {
    mine.clear();
    seen_begins = 0;
  }
  ~Events() override { observe::set_listener(nullptr); }

  /// Runs `waits` in a thread that finds the lock held, until it has begun to wait and for a while longer. Returns what
  /// that thread was told.
  template <class Lock, class Waits>
  static std::vector<event> told_of(Lock& lock, Waits waits) {
    observe::set_listener(keep_and_count);
    std::vector<event> told;
    lock.lock();
    std::thread waiter([&] {
      waits();
      told = mine;
    });
    while (seen_begins.load() == 0) machine::yield();
    machine::sleep_ns(1'000'000);
    lock.unlock();
    waiter.join();
    return told;
  }
};

void expect_wait(const std::vector<event>& told, const void* lock, bool acquired) {
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].kind, event_kind::wait_begin);
  EXPECT_EQ(told[1].kind, event_kind::wait_end);
  for (const event& one : told) {
    EXPECT_EQ(one.lock, lock);
    EXPECT_EQ(one.site_id, place.id());
    EXPECT_STREQ(one.site_name, "events.place");
  }
  EXPECT_EQ(told[1].acquired, acquired);
  EXPECT_GT(told[1].wait_ns, 0u);
}

TEST_F(Events, AWaitForAMutexBeginsAndEnds) {
  txsync::mutex lock(place);
  const observe::site_totals before = totals_of(place);
  const std::vector<event> told = told_of(lock, [&] {
    lock.lock();
    lock.unlock();
  });
  expect_wait(told, &lock, true);
  const observe::site_totals since = observe::difference(totals_of(place), before);
  EXPECT_EQ(since.contended, 1u);
  EXPECT_EQ(since.wait_ns, told.at(1).wait_ns);
}

TEST_F(Events, AWaitUntilADeadlineEndsWithoutTheLock) {
  txsync::mutex lock(place);
  observe::set_listener(keep);
  lock.lock();
  std::vector<event> told;
  std::thread([&] {
    EXPECT_FALSE(lock.try_lock_until_ns(machine::clock_ns() + 1'000'000));
    told = mine;
  }).join();
  lock.unlock();
  expect_wait(told, &lock, false);
}

TEST_F(Events, ReadersAndWritersWaitToo) {
  txsync::shared_mutex lock(place);
  expect_wait(told_of(lock,
                      [&] {
                        lock.lock_shared();
                        lock.unlock_shared();
                      }),
              &lock, true);
  seen_begins = 0;
  expect_wait(told_of(lock,
                      [&] {
                        lock.lock();
                        lock.unlock();
                      }),
              &lock, true);
}

TEST_F(Events, NothingIsToldOfALockThatIsFree) {
  txsync::mutex lock(place);
  observe::set_listener(keep);
  for (int i = 0; i < 1'000; ++i) {
    lock.lock();
    lock.unlock();
  }
  EXPECT_TRUE(mine.empty());
}

TEST_F(Events, ASiteThatCountsNothingHasNumber0) {
  static constinit txsync::site uncounted{"events.uncounted"};
  uncounted.set_policy(txsync::policy_word::counting_off);
  txsync::mutex lock(uncounted);
  const std::vector<event> told = told_of(lock, [&] {
    lock.lock();
    lock.unlock();
  });
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].site_id, 0u);
  EXPECT_STREQ(told[1].site_name, "");
  EXPECT_GT(told[1].wait_ns, 0u);
}

/// Under contention of several threads: each thread's waits begin and end by turns, as many as are counted.
TEST_F(Events, EachWaitEndsOnce) {
  txsync::mutex lock(place);
  observe::set_listener(keep);
  const observe::site_totals before = totals_of(place);
  std::atomic<unsigned> ends{0};
  std::atomic<bool> in_order{true};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2'000; ++i) {
        lock.lock();
        lock.unlock();
      }
      for (std::size_t i = 0; i < mine.size(); ++i) {
        const bool is_end = i % 2 != 0;
        if (mine[i].kind != (is_end ? event_kind::wait_end : event_kind::wait_begin)) in_order = false;
        if (is_end) ++ends;
      }
      if (mine.size() % 2 != 0) in_order = false;
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_TRUE(in_order);
  EXPECT_EQ(observe::difference(totals_of(place), before).contended, ends.load());
}

TEST_F(Events, SetListenerReturnsTheOneBefore) {
  EXPECT_EQ(observe::set_listener(keep), nullptr);
  EXPECT_EQ(observe::set_listener(keep_and_count), &keep);
  EXPECT_EQ(observe::set_listener(nullptr), &keep_and_count);
}

TEST_F(Events, AfterItIsRemovedNewWaitsAreNotTold) {
  txsync::mutex lock(place);
  (void)told_of(lock, [&] {
    lock.lock();
    lock.unlock();
  });
  observe::set_listener(nullptr);
  lock.lock();
  std::thread([&] {
    EXPECT_FALSE(lock.try_lock_until_ns(machine::clock_ns() + 1'000));
    EXPECT_TRUE(mine.empty());
  }).join();
  lock.unlock();
}

// ---- what happens within a listener

constinit txsync::mutex inner{place};
unsigned calls = 0;
/// Waits in vain for a lock that is held.
void wait_within(const event&) noexcept {
  ++calls;
  EXPECT_FALSE(inner.try_lock_until_ns(machine::clock_ns() + 1'000));
}

TEST_F(Events, WithinAListenerNothingIsTold) {
  txsync::mutex lock(place);
  lock.lock();
  inner.lock();
  observe::set_listener(wait_within);
  calls = 0;
  std::thread([&] { EXPECT_FALSE(lock.try_lock_until_ns(machine::clock_ns() + 1'000)); }).join();
  observe::set_listener(nullptr);
  inner.unlock();
  lock.unlock();
  EXPECT_EQ(calls, 2u) << "a begin and an end";
}

}  // namespace
