// SPDX-License-Identifier: Apache-2.0
// Every lock elided: sections in attempts and with the lock, readers and writers, changes of mode, other threads.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include <machine/scripted/script.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/mutex.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/elided.hpp>

#include "unlearnt.hpp"

namespace {

namespace machine = txsync::machine;
using machine::attempt_status;
using txsync::elided;
using txsync::elided_shared;
using txsync::latch_mode;
using txsync::scoped_site;
using txsync::script::machine_script;
using txsync::script::plan;

template <class Lock>
class ElidedMutex : public testing::Test {
 protected:
  ElidedMutex() { have_unlearnt_rtm(script); }
  machine_script script;
  scoped_site place{txsync::elision_presets::eager};
};
using mutexes = testing::Types<txsync::tatas_lock, txsync::ticket_lock, txsync::fifo_ticket_lock, txsync::futex_mutex,
                               txsync::spinning_mutex, txsync::posix_mutex_with_word, txsync::mutex>;
TYPED_TEST_SUITE(ElidedMutex, mutexes);

/// "A pointer more" is what elided.hpp says, up to the alignment of a pointer.
template <class Elided, class Lock>
constexpr bool is_a_pointer_more =
    sizeof(Elided) <= (sizeof(Lock) + 2 * sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);

TYPED_TEST(ElidedMutex, IsItsLockAndAPointer) {
  static_assert(is_a_pointer_more<elided<TypeParam>, TypeParam>);
  static_assert(sizeof(elided<txsync::mutex>) == 24);
}

TYPED_TEST(ElidedMutex, ElidesAndFallsBack) {
  elided<TypeParam> lock(this->place);
  lock.lock();
  EXPECT_TRUE(machine::active());
  lock.unlock();
  this->script.on_begin(plan::aborts(0));
  lock.lock();
  EXPECT_FALSE(machine::active());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

/// Sections with the lock and in attempts follow each other in two threads, ordered by nothing that a race detector
/// sees but the locks themselves.
TYPED_TEST(ElidedMutex, OrdersSectionsOfBothKinds) {
  struct shared_state {
    elided<TypeParam> lock;
    std::uint64_t value = 0;
    std::atomic<unsigned> turn{0};
    explicit shared_state(txsync::site& place) : lock(place) {}
    void run(unsigned mine) {
      for (unsigned i = 0; i < 50; ++i) {
        // relaxed: the turn orders nothing
        while (turn.load(std::memory_order_relaxed) % 2 != mine) machine::yield();
        lock.lock();
        ++value;
        lock.unlock();
        turn.fetch_add(1, std::memory_order_relaxed);
      }
    }
  };
  // Not on the stack, where an abort would undo what the other thread has done.
  const auto state = std::make_unique<shared_state>(this->place);
  shared_state& all = *state;
  for (unsigned i = 0; i < 50; ++i) this->script.on_begin({plan::aborts(0), plan::commits(), plan::commits()});
  machine::thread other;
  ASSERT_TRUE(other.start([](void* raw) { static_cast<shared_state*>(raw)->run(1); }, &all));
  all.run(0);
  other.join();
  EXPECT_EQ(all.value, 100u);
}

template <class Lock>
class ElidedShared : public ElidedMutex<Lock> {};
using shared_locks = testing::Types<txsync::occ_rwlock, txsync::srwlock, txsync::futex_rwlock, txsync::shared_mutex>;
TYPED_TEST_SUITE(ElidedShared, shared_locks);

TYPED_TEST(ElidedShared, IsItsLockAndAPointer) {
  static_assert(is_a_pointer_more<elided_shared<TypeParam>, TypeParam>);
}

TYPED_TEST(ElidedShared, BothModesAreElided) {
  elided_shared<TypeParam> lock(this->place);
  lock.lock_shared();
  EXPECT_TRUE(machine::active());
  EXPECT_EQ(lock.mode(), latch_mode::shared);
  EXPECT_EQ(lock.readers(), 1u);
  lock.unlock_shared();
  EXPECT_EQ(lock.mode(), latch_mode::none);
  lock.lock();
  EXPECT_TRUE(machine::active());
  EXPECT_EQ(lock.mode(), latch_mode::exclusive);
  lock.unlock();
  ASSERT_TRUE(lock.try_lock_shared());
  EXPECT_TRUE(lock.try_lock_shared());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock_shared();
  lock.unlock_shared();
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(this->script.counted().commits, 3u);
}

/// A thread that holds the lock in a mode while the test looks.
template <class Lock>
struct holder {
  elided_shared<Lock>& lock;
  bool shared;
  std::atomic<int> step{0};
  machine::thread other;

  holder(machine_script& script, elided_shared<Lock>& one, bool reads) : lock(one), shared(reads) {
    script.on_begin(plan::aborts(0));
    EXPECT_TRUE(other.start([](void* raw) { static_cast<holder*>(raw)->run(); }, this));
    while (step.load() == 0) machine::yield();
  }
  void run() {
    shared ? lock.lock_shared() : lock.lock();
    step.store(1);
    while (step.load() == 1) machine::yield();
    shared ? lock.unlock_shared() : lock.unlock();
  }
  ~holder() {
    step.store(2);
    other.join();
  }
};

TYPED_TEST(ElidedShared, ReadersRunBesideReadersThatHoldIt) {
  const auto kept = std::make_unique<elided_shared<TypeParam>>(this->place);
  auto& lock = *kept;
  const holder<TypeParam> reader(this->script, lock, true);
  EXPECT_EQ(lock.mode(), latch_mode::shared);
  lock.lock_shared();
  EXPECT_TRUE(machine::active());
  EXPECT_EQ(lock.readers(), 2u);
  lock.unlock_shared();
  EXPECT_FALSE(lock.try_lock());
}

TYPED_TEST(ElidedShared, NobodyRunsBesideAWriterThatHoldsIt) {
  const auto kept = std::make_unique<elided_shared<TypeParam>>(this->place);
  auto& lock = *kept;
  const holder<TypeParam> writer(this->script, lock, false);
  EXPECT_EQ(lock.mode(), latch_mode::exclusive);
  EXPECT_FALSE(lock.try_lock_shared());
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(machine::active());
}

class ElidedLatch : public ElidedMutex<txsync::srwlock> {};

TEST_F(ElidedLatch, ChangesItsModeInAnAttempt) {
  elided_shared<txsync::srwlock> latch(place);
  latch.lock_shared();
  EXPECT_TRUE(latch.try_upgrade());
  EXPECT_EQ(latch.mode(), latch_mode::exclusive);
  latch.downgrade();
  EXPECT_EQ(latch.mode(), latch_mode::shared);
  latch.unlock_shared();
  EXPECT_EQ(script.counted().commits, 1u);
}

TEST_F(ElidedLatch, DoesNotUpgradeBesideAReaderThatHoldsIt) {
  const auto kept = std::make_unique<elided_shared<txsync::srwlock>>(place);
  auto& latch = *kept;
  const holder<txsync::srwlock> reader(script, latch, true);
  latch.lock_shared();
  EXPECT_TRUE(machine::active());
  EXPECT_FALSE(latch.try_upgrade());
  EXPECT_EQ(latch.mode(), latch_mode::shared);
  latch.unlock_shared();
}

TEST_F(ElidedLatch, ChangesItsModeWithTheLock) {
  elided_shared<txsync::srwlock> latch(place);
  script.on_begin(plan::aborts(0));
  latch.lock_shared();
  EXPECT_TRUE(latch.try_upgrade());
  latch.downgrade();
  latch.unlock_shared();
  EXPECT_EQ(latch.mode(), latch_mode::none);
}

}  // namespace
