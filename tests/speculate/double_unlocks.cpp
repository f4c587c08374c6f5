// SPDX-License-Identifier: Apache-2.0
// Unlocks of elided locks that nobody holds, where no attempt runs: told and harmless, whatever the thread has
// remembered of its sections. With attempts: elided_sections.cpp.
#include <gtest/gtest.h>

#include <thread>

#include <machine/scripted/script.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/elided.hpp>

namespace {

using txsync::elided;
using txsync::elided_shared;

/// A time at which the line may be printed: once a second at most.
std::uint64_t later_ns() {
  static std::uint64_t now_ns = 0;
  return now_ns += 1'000'000'000'000;
}

/// Unlocks once too often, by all ways, while sections of other locks are under way.
template <class Lock>
class DoubleUnlocks : public testing::Test {
 protected:
  DoubleUnlocks() {
    script.begin_is(txsync::script::begin_nature::always_aborts);
    script.clock_by_hand(later_ns());
  }
  template <class Call>
  void expect_told(Call call) {
    testing::internal::CaptureStderr();
    call();
    EXPECT_NE(testing::internal::GetCapturedStderr().find("does not hold"), std::string::npos);
    script.advance(2'000'000'000);
  }
  template <class Call>
  void expect_silent(Call call) {
    testing::internal::CaptureStderr();
    call();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }

  txsync::script::machine_script script;
  txsync::scoped_site place{txsync::elision_presets::eager};
  Lock lock{place};
  Lock other{place};
};

using elided_mutexes =
    testing::Types<elided<txsync::tatas_lock>, elided<txsync::ticket_lock>, elided<txsync::fifo_ticket_lock>,
                   elided<txsync::futex_mutex>, elided<txsync::mutex>, elided<txsync::posix_mutex_with_word>,
                   elided_shared<txsync::occ_rwlock>, elided_shared<txsync::srwlock>,
                   elided_shared<txsync::futex_rwlock>, elided_shared<txsync::shared_mutex>>;
TYPED_TEST_SUITE(DoubleUnlocks, elided_mutexes);

TYPED_TEST(DoubleUnlocks, AreToldWithinOtherSections) {
  this->expect_told([&] { this->lock.unlock(); });
  this->other.lock();
  this->lock.lock();
  this->lock.unlock();
  this->expect_told([&] { this->lock.unlock(); });
  this->lock.lock();
  this->expect_silent([&] {
    this->other.unlock();
    this->lock.unlock();
  });
  this->expect_told([&] { this->other.unlock(); });
  this->expect_told([&] { this->lock.unlock(); });
  EXPECT_TRUE(this->lock.try_lock());
  EXPECT_TRUE(this->other.try_lock());
  this->expect_silent([&] {
    this->lock.unlock();
    this->other.unlock();
  });
}

/// Locks that another thread may unlock. POSIX does not allow it of its mutex.
template <class Lock>
class HandedOver : public DoubleUnlocks<Lock> {};
using handed_over_mutexes =
    testing::Types<elided<txsync::tatas_lock>, elided<txsync::ticket_lock>, elided<txsync::fifo_ticket_lock>,
                   elided<txsync::futex_mutex>, elided<txsync::mutex>, elided_shared<txsync::occ_rwlock>,
                   elided_shared<txsync::srwlock>, elided_shared<txsync::futex_rwlock>,
                   elided_shared<txsync::shared_mutex>>;
TYPED_TEST_SUITE(HandedOver, handed_over_mutexes);

TYPED_TEST(HandedOver, DoubleUnlocksAreTold) {
  this->lock.lock();
  this->other.lock();
  this->expect_silent([&] { std::thread([&] { this->lock.unlock(); }).join(); });
  this->expect_told([&] { this->lock.unlock(); });
  this->expect_silent([&] { this->other.unlock(); });
}

template <class Lock>
class ReadersDoubleUnlocks : public DoubleUnlocks<Lock> {};
using elided_rwlocks = testing::Types<elided_shared<txsync::occ_rwlock>, elided_shared<txsync::srwlock>,
                                      elided_shared<txsync::futex_rwlock>, elided_shared<txsync::shared_mutex>>;
TYPED_TEST_SUITE(ReadersDoubleUnlocks, elided_rwlocks);

TYPED_TEST(ReadersDoubleUnlocks, AreTold) {
  this->lock.lock_shared();
  this->expect_told([&] { this->lock.unlock(); });
  this->expect_silent([&] { this->lock.unlock_shared(); });
  this->expect_told([&] { this->lock.unlock_shared(); });
  this->lock.lock();
  this->expect_told([&] { this->lock.unlock_shared(); });
  this->expect_silent([&] { this->lock.unlock(); });
  this->expect_told([&] { this->lock.unlock_shared(); });
  EXPECT_TRUE(this->lock.try_lock());
  this->lock.unlock();
}

class ChangedModes : public DoubleUnlocks<elided_shared<txsync::srwlock>> {};

TEST_F(ChangedModes, EndAsTheyAre) {
  expect_silent([&] {
    lock.lock();
    lock.downgrade();
    lock.unlock_shared();
    lock.lock_shared();
    EXPECT_TRUE(lock.try_upgrade());
    lock.unlock();
  });
  expect_told([&] { lock.unlock(); });
  expect_told([&] { lock.unlock_shared(); });
  lock.lock();
  lock.downgrade();
  expect_told([&] { lock.unlock(); });
  expect_silent([&] { lock.unlock_shared(); });
}

}  // namespace
