// SPDX-License-Identifier: Apache-2.0
// Conditions of the preloaded library in critical sections that run as attempts (scripted machine). A signal costs
// nothing if nobody waits. If somebody waits, it wakes once the attempt has committed. A wait takes the mutex.
#include <gtest/gtest.h>

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <memory>

#include <machine/scripted/script.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/thread.hpp>

#include "scripted_locks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

using script::plan;

/// On the heap, because an abort puts back the stack.
struct shared_state {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t around = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  std::atomic<unsigned> told{0};

  static void wait(void* raw) {
    auto& me = *static_cast<shared_state*>(raw);
    EXPECT_EQ(scripted_mutex_lock(&me.mutex), 0);
    EXPECT_EQ(scripted_cond_wait(&me.changed, &me.mutex), 0);
    ++me.told;
    EXPECT_EQ(scripted_mutex_unlock(&me.mutex), 0);
  }
};

class ElidedConditions : public ScriptedLocks {
 protected:
  ElidedConditions() {
    answer = {1,
              {policy::lock_kind::mutex, policy::rwlock_kind::rwlock, policy::spinlock_kind::tatas, true,
               policy::elision_kind::eager}};
  }

  static constexpr int (*ways_to_tell[])(pthread_cond_t*) noexcept = {scripted_cond_signal, scripted_cond_broadcast};

  void sleep_in(shared_state& shared, machine::thread& waiter, unsigned sleepers) {
    ASSERT_TRUE(waiter.start(shared_state::wait, &shared));
    while (script.parked() < sleepers) machine::yield();
  }
};

TEST_F(ElidedConditions, ASignalThatNobodyWaitsForLeavesTheAttemptAlone) {
  const auto shared = std::make_unique<shared_state>();
  for (const auto tell_all : ways_to_tell) {
    EXPECT_EQ(scripted_mutex_lock(&shared->mutex), 0);
    EXPECT_EQ(tell_all(&shared->changed), 0);
    EXPECT_TRUE(machine::active());
    EXPECT_EQ(scripted_mutex_unlock(&shared->mutex), 0);
  }
  EXPECT_EQ(script.counted().commits, 2U);
  EXPECT_EQ(script.counted().begins, 2U);
  EXPECT_EQ(script.counted().unparks, 0U);
}

TEST_F(ElidedConditions, WakeOnceTheAttemptHasCommitted) {
  const auto shared = std::make_unique<shared_state>();
  for (const auto tell_all : ways_to_tell) {
    shared->told = 0;
    machine::thread waiter;
    sleep_in(*shared, waiter, 1);
    const script::counts before = script.counted();
    EXPECT_EQ(scripted_mutex_lock(&shared->around), 0);
    EXPECT_EQ(scripted_mutex_lock(&shared->mutex), 0);
    EXPECT_EQ(tell_all(&shared->changed), 0);
    EXPECT_EQ(scripted_mutex_unlock(&shared->mutex), 0);
    EXPECT_TRUE(machine::active()) << "the outer section goes on";
    EXPECT_EQ(script.counted().unparks, before.unparks) << "nobody is woken for what may be undone";
    EXPECT_EQ(scripted_mutex_unlock(&shared->around), 0);
    EXPECT_FALSE(machine::active());
    waiter.join();
    EXPECT_EQ(shared->told.load(), 1U);
    EXPECT_EQ(script.counted().aborts, before.aborts);
  }
}

TEST_F(ElidedConditions, ABroadcastWakesAllThatWaited) {
  const auto shared = std::make_unique<shared_state>();
  machine::thread waiters[3];
  for (unsigned i = 0; i < std::size(waiters); ++i) sleep_in(*shared, waiters[i], i + 1);
  EXPECT_EQ(scripted_mutex_lock(&shared->mutex), 0);
  EXPECT_EQ(scripted_cond_signal(&shared->changed), 0);
  EXPECT_EQ(scripted_cond_broadcast(&shared->changed), 0);
  EXPECT_EQ(scripted_cond_signal(&shared->changed), 0) << "nobody is left";
  EXPECT_TRUE(machine::active());
  EXPECT_EQ(scripted_mutex_unlock(&shared->mutex), 0);
  for (machine::thread& one : waiters) one.join();
  EXPECT_EQ(shared->told.load(), 3U);
  EXPECT_EQ(scripted_cond_destroy(&shared->changed), 0);
}

TEST_F(ElidedConditions, WakeWithTheUnlockWhereTheLockIsTaken) {
  const auto shared = std::make_unique<shared_state>();
  machine::thread waiter;
  sleep_in(*shared, waiter, 1);
  script.on_begin(plan::aborts(0));
  EXPECT_EQ(scripted_mutex_lock(&shared->mutex), 0);
  const script::counts before = script.counted();
  EXPECT_EQ(scripted_cond_signal(&shared->changed), 0);
  EXPECT_EQ(script.counted().unparks, before.unparks);
  EXPECT_EQ(scripted_mutex_unlock(&shared->mutex), 0);
  EXPECT_EQ(script.counted().unparks, before.unparks + 1);
  waiter.join();
}

TEST_F(ElidedConditions, AWaitTakesTheMutexFirst) {
  const auto shared = std::make_unique<shared_state>();
  const timespec long_ago{};
  EXPECT_EQ(scripted_mutex_lock(&shared->mutex), 0);
  EXPECT_EQ(scripted_cond_timedwait(&shared->changed, &shared->mutex, &long_ago), ETIMEDOUT);
  EXPECT_EQ(scripted_mutex_unlock(&shared->mutex), 0);
  EXPECT_EQ(scripted_cond_destroy(&shared->changed), 0);
  EXPECT_GE(script.counted().aborts, 1U);
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
