// SPDX-License-Identifier: Apache-2.0
// What the child of a fork can do with a lock that the forking thread held, while other threads of the parent waited.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <txsync/condition_variable.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

#include "harness/forks.hpp"
#include "locks_under_test.hpp"

namespace {

using namespace conformance;
using namespace std::chrono_literals;

constexpr unsigned many = 6;  // more than have room inside ticket_lock and mcs_lock, on small machines

/// Its limiter is not one of the parent's: it was all zero when the child took it first.
TEST(FirstUsedInAChild, TicketLockKeepsItsWaitersOutside) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer starts no threads in the child of a fork";
  EXPECT_TRUE(child_succeeds([] {
    txsync::detail::ticket_queue queue;
    txsync::concurrency_limiter limiter;
    txsync::detail::limited_ticket lock(queue, limiter);
    lock.lock();
    const unsigned room = std::max(2u, txsync::machine::cpu_count());
    std::vector<std::thread> others = start_waiting(room + many, [&queue, &limiter] {
      txsync::detail::limited_ticket own(queue, limiter);
      own.lock();
      own.unlock();
    });
    expect_in_child(queue.active() <= room);
    lock.unlock();
    join(others);
  }));
}

template <class Lock>
struct HeldAcrossAFork : testing::Test {};
using library_locks =
    testing::Types<txsync::tatas_lock, txsync::ticket_lock, txsync::fifo_ticket_lock, txsync::mcs_lock,
                   txsync::fifo_mcs_lock, txsync::futex_mutex, txsync::spinning_mutex, txsync::mutex,
                   txsync::policy_mutex, conformance::ticket_by_policy, conformance::fifo_ticket_by_policy,
                   txsync::occ_rwlock, txsync::futex_rwlock, txsync::srwlock, txsync::shared_mutex>;
TYPED_TEST_SUITE(HeldAcrossAFork, library_locks, conformance::lock_names);

TYPED_TEST(HeldAcrossAFork, IsOfUseInTheChild) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  for (const unsigned waiters : {1u, many}) {
    const auto lock = std::make_unique<TypeParam>();
    turn<TypeParam> mine{*lock};
    mine.take();
    std::vector<std::thread> others = start_waiting(waiters, [&] {
      turn<TypeParam> own{*lock};
      own.take();
      own.give_up();
    });
    EXPECT_TRUE(child_succeeds([&] {
      mine.give_up();
      use(*lock);
    })) << waiters;
    mine.give_up();
    join(others);
  }
}

/// The child's threads come before the lock is given up there.
TYPED_TEST(HeldAcrossAFork, IsOfUseInTheChildWithWaitersThere) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer starts no thread in the child of a fork";
  const auto lock = std::make_unique<TypeParam>();
  turn<TypeParam> mine{*lock};
  mine.take();
  const auto take_and_give_up = [&] {
    turn<TypeParam> own{*lock};
    own.take();
    own.give_up();
  };
  std::vector<std::thread> others = start_waiting(many, take_and_give_up);
  EXPECT_TRUE(child_succeeds([&] {
    std::vector<std::thread> own = start_waiting(many, take_and_give_up);
    mine.give_up();
    join(own);
    use(*lock);
  }));
  mine.give_up();
  join(others);
}

/// The child forks, too, and its child.
TYPED_TEST(HeldAcrossAFork, IsOfUseInAChildsChild) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  const auto lock = std::make_unique<TypeParam>();
  turn<TypeParam> mine{*lock};
  mine.take();
  std::vector<std::thread> others = start_waiting(many, [&] {
    turn<TypeParam> own{*lock};
    own.take();
    own.give_up();
  });
  EXPECT_TRUE(child_succeeds([&] {
    expect_in_child(static_cast<bool>(child_succeeds([&] {
      mine.give_up();
      use(*lock);
    })));
    mine.give_up();
    use(*lock);
    mine.take();
    expect_in_child(static_cast<bool>(child_succeeds([&] {
      mine.give_up();
      use(*lock);
    })));
  }));
  mine.give_up();
  join(others);
}

/// A ticket that a thread of the parent has left is passed over there, and means nothing here.
TYPED_TEST(HeldAcrossAFork, HasNoTicketsThatWereLeftInTheParent) {
  if constexpr (requires(TypeParam& lock) { lock.try_lock_for(1ms); }) {
    if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
    const auto lock = std::make_unique<TypeParam>();
    turn<TypeParam> mine{*lock};
    mine.take();
    EXPECT_FALSE(elsewhere([&] { return lock->try_lock_for(2ms); }));
    EXPECT_TRUE(child_succeeds([&] {
      mine.give_up();
      use(*lock);
    }));
    mine.give_up();
    use(*lock);
  }
}

template <class Lock>
struct ReadersAcrossAFork : testing::Test {};
using library_shared_locks =
    testing::Types<txsync::occ_rwlock, txsync::futex_rwlock, txsync::srwlock, txsync::shared_mutex>;
TYPED_TEST_SUITE(ReadersAcrossAFork, library_shared_locks, conformance::lock_names);

TYPED_TEST(ReadersAcrossAFork, DoNotKeepTheChildsWritersOut) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  const auto lock = std::make_unique<TypeParam>();
  lock->lock();
  std::vector<std::thread> others = start_waiting(many, [&] {
    lock->lock_shared();
    lock->unlock_shared();
  });
  EXPECT_TRUE(child_succeeds([&] {
    lock->unlock();
    use(*lock);
    lock->lock_shared();
    lock->unlock_shared();
  }));
  lock->unlock();
  join(others);
}

using locks_for_readers = testing::Types<txsync::futex_rwlock, txsync::srwlock>;
template <class Lock>
struct HeldSharedAcrossAFork : testing::Test {};
TYPED_TEST_SUITE(HeldSharedAcrossAFork, locks_for_readers, conformance::lock_names);

TYPED_TEST(HeldSharedAcrossAFork, IsOfUseInTheChild) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  const auto lock = std::make_unique<TypeParam>();
  lock->lock_shared();
  std::vector<std::thread> others = start_waiting(many, [&] {
    lock->lock();
    lock->unlock();
  });
  EXPECT_TRUE(child_succeeds([&] {
    lock->unlock_shared();
    expect_in_child(lock->try_lock_shared());
    lock->unlock_shared();
    use(*lock);
  }));
  lock->unlock_shared();
  join(others);
}

/// The destructor waits for notified threads, of which there are none in the child.
TEST(ConditionVariable, IsDestroyedInTheChildOfAFork) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  txsync::mutex guard;
  bool told = false;
  const auto condition = std::make_unique<txsync::condition_variable>();
  std::vector<std::thread> others = start_waiting(1, [&] {
    std::unique_lock hold(guard);
    condition->wait(hold, [&] { return told; });
  });
  {
    const std::lock_guard hold(guard);
    told = true;
    condition->notify_all();
    EXPECT_TRUE(child_succeeds([&] { std::destroy_at(condition.get()); }));
  }
  join(others);
}

/// In the child one waits, beside those that it does not have.
TEST(ConditionVariable, IsOfUseInTheChildOfAFork) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer starts no thread in the child of a fork";
  txsync::mutex guard;
  bool told = false;
  const auto condition = std::make_unique<txsync::condition_variable>();
  const auto wait = [&] {
    std::unique_lock hold(guard);
    condition->wait(hold, [&] { return told; });
  };
  const auto notify = [&] {
    const std::lock_guard hold(guard);
    told = true;
    condition->notify_all();
  };
  std::vector<std::thread> others = start_waiting(many, wait);
  EXPECT_TRUE(child_succeeds([&] {
    std::vector<std::thread> own = start_waiting(1, wait);
    notify();
    join(own);
    std::destroy_at(condition.get());
  }));
  notify();
  join(others);
}

}  // namespace
