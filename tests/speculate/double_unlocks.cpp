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

/// No attempts work.
template <class Lock>
struct without_attempts {
  using lock = Lock;
  static constexpr auto begin = txsync::script::begin_nature::always_aborts;
  static constexpr txsync::elision_policy policy = txsync::elision_presets::eager;
};
/// Attempts work, and the policy makes none. Some locks find out in another way then.
template <class Lock>
struct making_none {
  using lock = Lock;
  static constexpr auto begin = txsync::script::begin_nature::commits;
  static constexpr txsync::elision_policy policy{.attempts = 0};
};
template <class... Locks>
using both_ways = testing::Types<without_attempts<Locks>..., making_none<Locks>...>;

/// Unlocks once too often, by all ways, while sections of other locks are under way.
template <class Case>
class DoubleUnlocks : public testing::Test {
 protected:
  using Lock = typename Case::lock;
  DoubleUnlocks() {
    script.begin_is(Case::begin);
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
  txsync::scoped_site place{Case::policy};
  Lock lock{place};
  Lock other{place};
};

using elided_mutexes =
    both_ways<elided<txsync::tatas_lock>, elided<txsync::ticket_lock>, elided<txsync::fifo_ticket_lock>,
              elided<txsync::futex_mutex>, elided<txsync::mutex>, elided<txsync::posix_mutex_with_word>,
              elided_shared<txsync::occ_rwlock>, elided_shared<txsync::srwlock>, elided_shared<txsync::futex_rwlock>,
              elided_shared<txsync::shared_mutex>>;
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
template <class Case>
class HandedOver : public DoubleUnlocks<Case> {};
using handed_over_mutexes =
    both_ways<elided<txsync::tatas_lock>, elided<txsync::ticket_lock>, elided<txsync::fifo_ticket_lock>,
              elided<txsync::futex_mutex>, elided<txsync::mutex>, elided_shared<txsync::occ_rwlock>,
              elided_shared<txsync::srwlock>, elided_shared<txsync::futex_rwlock>, elided_shared<txsync::shared_mutex>>;
TYPED_TEST_SUITE(HandedOver, handed_over_mutexes);

TYPED_TEST(HandedOver, DoubleUnlocksAreTold) {
  this->lock.lock();
  this->other.lock();
  this->expect_silent([&] { std::thread([&] { this->lock.unlock(); }).join(); });
  this->expect_told([&] { this->lock.unlock(); });
  this->expect_silent([&] { this->other.unlock(); });
}

template <class Case>
class ReadersDoubleUnlocks : public DoubleUnlocks<Case> {};
using elided_rwlocks = both_ways<elided_shared<txsync::occ_rwlock>, elided_shared<txsync::srwlock>,
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

template <class Case>
class ChangedModes : public DoubleUnlocks<Case> {};
TYPED_TEST_SUITE(ChangedModes, both_ways<elided_shared<txsync::srwlock>>);

TYPED_TEST(ChangedModes, EndAsTheyAre) {
  auto& latch = this->lock;
  this->expect_silent([&] {
    latch.lock();
    latch.downgrade();
    latch.unlock_shared();
    latch.lock_shared();
    EXPECT_TRUE(latch.try_upgrade());
    latch.unlock();
  });
  this->expect_told([&] { latch.unlock(); });
  this->expect_told([&] { latch.unlock_shared(); });
  latch.lock();
  latch.downgrade();
  this->expect_told([&] { latch.unlock(); });
  this->expect_silent([&] { latch.unlock_shared(); });
}

}  // namespace
