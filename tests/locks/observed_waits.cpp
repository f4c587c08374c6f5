// SPDX-License-Identifier: Apache-2.0
// Locks with a site record a wait when it begins: a thread that waits for ever is visible meanwhile.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/mutex.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/policy_mutex.hpp>
#include <txsync/shared_mutex.hpp>

#include "../observe/site_totals.hpp"

namespace machine = txsync::machine;
namespace observe = txsync::observe;

namespace {

/// False if no thread waits after half a minute.
bool await_waiter(txsync::site& place) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (totals_of(place).unfinished_waits == 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

using step = std::function<void()>;

/// A lock is held, `passes` waits for it on another thread, and gets it once `release` has run.
void expect_seen(txsync::site& place, const step& passes, const step& release) {
  std::thread waiter(passes);
  EXPECT_TRUE(await_waiter(place));
  const observe::site_totals during = totals_of(place);
  release();
  waiter.join();
  EXPECT_EQ(during.unfinished_waits, 1u);
  EXPECT_EQ(during.contended, 0u);
  EXPECT_GT(during.max_wait_ns, 0u);
  const observe::site_totals after = totals_of(place);
  EXPECT_EQ(after.unfinished_waits, 0u);
  EXPECT_EQ(after.contended, 1u);
  EXPECT_GE(after.max_wait_ns, during.max_wait_ns);
  EXPECT_EQ(after.max_wait_ns, after.wait_ns);
}

template <class Lock>
step passing(Lock& lock) {
  return [&lock] {
    lock.lock();
    lock.unlock();
  };
}
template <class Lock>
step unlocking(Lock& lock) {
  return [&lock] { lock.unlock(); };
}

class idle final : public txsync::wait_task {
 public:
  result run_once(const txsync::lock_wait&) noexcept override { return result::nothing; }
};

}  // namespace

TEST(ObservedWaits, OfAMutexAreSeenWhileTheyLast) {
  static constinit txsync::site place{"observed_waits.mutex"};
  txsync::mutex lock(place);
  lock.lock();
  expect_seen(place, passing(lock), unlocking(lock));
}

TEST(ObservedWaits, OfAMutexWithAPastimeAreSeenWhileTheyLast) {
  static constinit txsync::site place{"observed_waits.pastime"};
  txsync::mutex lock(place);
  lock.lock();
  const auto pass = [&] {
    idle nothing;
    EXPECT_TRUE(lock.lock(nothing));
    lock.unlock();
  };
  expect_seen(place, pass, unlocking(lock));
}

TEST(ObservedWaits, OfAMutexWithADeadlineAreSeenWhileTheyLast) {
  static constinit txsync::site place{"observed_waits.deadline"};
  constexpr std::uint64_t hour_ns = 3'600'000'000'000;
  txsync::mutex lock(place);
  lock.lock();
  const auto pass = [&] {
    ASSERT_TRUE(lock.try_lock_until_ns(machine::clock_ns() + hour_ns));
    lock.unlock();
  };
  expect_seen(place, pass, unlocking(lock));
}

TEST(ObservedWaits, OfAPolicyMutexAreSeenWhileTheyLast) {
  static constinit txsync::site places[] = {txsync::site{"observed_waits.policy"}, txsync::site{"observed_waits.tatas"},
                                            txsync::site{"observed_waits.ticket"}};
  places[1].set_policy(txsync::lock_policy::tatas);
  places[2].set_policy(txsync::lock_policy::ticket);
  for (txsync::site& place : places) {
    SCOPED_TRACE(place.name());
    txsync::policy_mutex lock(place);
    lock.lock();
    expect_seen(place, passing(lock), unlocking(lock));
  }
}

TEST(ObservedWaits, OfATicketByPolicyEndAtADeadline) {
  static constinit txsync::site place{"observed_waits.late_ticket"};
  place.set_policy(txsync::lock_policy::ticket);
  txsync::policy_mutex lock(place);
  lock.lock();
  std::thread([&] { EXPECT_FALSE(lock.try_lock_until_ns(machine::clock_ns() + 2'000'000)); }).join();
  lock.unlock();
  const observe::site_totals after = totals_of(place);
  EXPECT_EQ(after.failed_waits, 1u);
  EXPECT_EQ(after.contended, 0u);
}

TEST(ObservedWaits, ThatEndAtADeadlineCountAsTheLongestOnly) {
  static constinit txsync::site place{"observed_waits.late"};
  // Long: the thread may lose its CPU before it begins to wait.
  constexpr std::uint64_t length_ns = 100'000'000;
  txsync::mutex lock(place);
  lock.lock();
  std::thread([&] { EXPECT_FALSE(lock.try_lock_until_ns(machine::clock_ns() + length_ns)); }).join();
  lock.unlock();
  const observe::site_totals after = totals_of(place);
  EXPECT_GE(after.max_wait_ns, 1'000'000u);
  EXPECT_EQ(after.unfinished_waits, 0u);
  EXPECT_EQ(after.contended, 0u);
  EXPECT_EQ(after.wait_ns, 0u);
}

TEST(ObservedWaits, OfReadersBehindAWriterAreSeenWhileTheyLast) {
  static constinit txsync::site place{"observed_waits.reader"};
  txsync::shared_mutex lock(place);
  lock.lock();
  const auto pass = [&] {
    lock.lock_shared();
    lock.unlock_shared();
  };
  expect_seen(place, pass, unlocking(lock));
}

TEST(ObservedWaits, OfWritersBehindAWriterAreSeenWhileTheyLast) {
  static constinit txsync::site place{"observed_waits.second_writer"};
  txsync::shared_mutex lock(place);
  lock.lock();
  expect_seen(place, passing(lock), unlocking(lock));
}

TEST(ObservedWaits, OfWritersBehindAReaderAreSeenWhileTheyLast) {
  static constinit txsync::site place{"observed_waits.writer"};
  txsync::shared_mutex lock(place);
  lock.lock_shared();
  expect_seen(place, passing(lock), [&] { lock.unlock_shared(); });
}

TEST(ObservedWaits, AreNoneWhereALockIsFree) {
  static constinit txsync::site place{"observed_waits.free"};
  txsync::shared_mutex shared(place);
  txsync::mutex lock(place);
  lock.lock();
  lock.unlock();
  shared.lock();
  shared.unlock();
  shared.lock_shared();
  shared.unlock_shared();
  const observe::site_totals after = totals_of(place);
  EXPECT_EQ(after.contended, 0u);
  EXPECT_EQ(after.max_wait_ns, 0u);
}
