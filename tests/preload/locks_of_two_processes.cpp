// SPDX-License-Identifier: Apache-2.0
// Locks of the preloaded library in memory that processes share without the attribute, at sites whose locks speculate.
// One process decides what a lock is. The others have not met its site, and have to make of the lock what that one did.
#include <gtest/gtest.h>

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <vector>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/speculate/warming.hpp>

#include "locks/tagged_lock.hpp"
#include "preload/acquisition.hpp"
#include "preload/rwlock_state.hpp"
#include "scripted_locks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

using policy::elision_kind;
using policy::lock_kind;
using policy::rwlock_kind;
using policy::warm_up_kind;
using script::plan;

const elision_kind shore = policy::named<elision_kind>("shore");  // tries again after any failure

constexpr lock_kind kinds_of_ours[] = {lock_kind::mutex,  lock_kind::spin,        lock_kind::tatas,
                                       lock_kind::ticket, lock_kind::fifo_ticket, lock_kind::priority_tatas};

class LocksOfTwoProcesses : public ScriptedLocks {
 protected:
  static void site_asks(std::uint32_t site, lock_kind lock, elision_kind elision = elision_kind::eager,
                        rwlock_kind rwlock = rwlock_kind::rwlock, warm_up_kind warm_up = warm_up_kind::off,
                        bool counting = true) {
    answer = {site, {lock, rwlock, policy::spinlock_kind::tatas, counting, elision, warm_up}};
  }
  static pthread_rwlock_t made_rwlock() {
    pthread_rwlock_t lock;
    EXPECT_EQ(scripted_rwlock_init(&lock, nullptr), 0);
    return lock;
  }
  static lock_tag tag_of(pthread_mutex_t& mutex) { return lock_tag(state_of(&mutex).tag.load()); }
  /// Takes it, and is in no attempt.
  template <class Take>
  void really(Take take) {
    script.on_begin_by_default(plan::aborts(0));
    EXPECT_EQ(take(), 0);
    EXPECT_FALSE(machine::active());
    script.on_begin_by_default(plan::commits());
  }
};

TEST_F(LocksOfTwoProcesses, MutexesAreTheSameLockInBoth) {
  std::uint32_t site = 0;
  for (const lock_kind lock : kinds_of_ours) {
    for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ADAPTIVE_NP}) {
      for (const bool counting : {true, false}) {
        site_asks(++site, lock, elision_kind::eager, rwlock_kind::rwlock, warm_up_kind::off, counting);
        pthread_mutex_t mutex = made(type);
        ASSERT_TRUE(tag_of(mutex).has_role());
        become_another_process();
        EXPECT_EQ(lock_under(tag_of(mutex)), detail::algorithm_of(lock));
        EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
        EXPECT_TRUE(machine::active()) << "elided here, too";
        EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
        EXPECT_EQ(tag_of(mutex).site(), counting ? site : 0);
      }
    }
  }
}

TEST_F(LocksOfTwoProcesses, MutexesKeepTheOtherProcessOut) {
  std::uint32_t site = 0;
  for (const lock_kind lock : kinds_of_ours) {
    for (const bool attempts_work_here : {true, false}) {
      site_asks(++site, lock, shore);
      pthread_mutex_t mutex = made(PTHREAD_MUTEX_NORMAL);
      really([&] { return scripted_mutex_lock(&mutex); });
      become_another_process();
      script.begin_is(attempts_work_here ? script::begin_nature::commits : script::begin_nature::always_aborts);
      EXPECT_EQ(scripted_mutex_trylock(&mutex), EBUSY) << site;
      EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
      EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
      EXPECT_EQ(machine::active(), attempts_work_here) << site;
      EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
      EXPECT_EQ(lock_under(tag_of(mutex)), detail::algorithm_of(lock));
      script.begin_is(script::begin_nature::commits);
    }
  }
  EXPECT_TRUE(told.empty());
}

TEST_F(LocksOfTwoProcesses, EveryFunctionMayBeTheFirst) {
  const timespec long_ago{};
  std::uint32_t site = 0;
  const auto from_another = [&] {
    site_asks(++site, lock_kind::ticket, shore);
    pthread_mutex_t mutex = made(PTHREAD_MUTEX_NORMAL);
    become_another_process();
    return mutex;
  };
  pthread_mutex_t tried = from_another();
  EXPECT_EQ(scripted_mutex_trylock(&tried), 0);
  EXPECT_EQ(scripted_mutex_unlock(&tried), 0);
  pthread_mutex_t timed = from_another();
  EXPECT_EQ(scripted_mutex_timedlock(&timed, &long_ago), 0);
  EXPECT_EQ(scripted_mutex_unlock(&timed), 0);
  pthread_mutex_t unlocked = from_another();
  EXPECT_EQ(scripted_mutex_unlock(&unlocked), 0);
  EXPECT_EQ(told, std::vector{diagnostic_kind::double_unlock});
  pthread_mutex_t destroyed = from_another();
  EXPECT_EQ(scripted_mutex_destroy(&destroyed), 0);
  pthread_mutex_t waited_with = from_another();
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  EXPECT_EQ(scripted_cond_timedwait(&condition, &waited_with, &long_ago), ETIMEDOUT) << "told, and waits";
  EXPECT_EQ(scripted_mutex_unlock(&waited_with), 0);
}

/// A page cannot be mapped in an attempt.
TEST_F(LocksOfTwoProcesses, AreMetInAnAttempt) {
  site_asks(1, lock_kind::ticket, shore);
  pthread_mutex_t inner = made(PTHREAD_MUTEX_NORMAL);
  pthread_rwlock_t inner_rwlock = made_rwlock();
  become_another_process();
  site_asks(2, lock_kind::mutex, shore);
  pthread_mutex_t around = made(PTHREAD_MUTEX_NORMAL);
  const auto enter_all = [&] {
    EXPECT_EQ(scripted_mutex_lock(&around), 0);
    EXPECT_EQ(scripted_mutex_lock(&inner), 0);
    EXPECT_EQ(scripted_rwlock_rdlock(&inner_rwlock), 0);
    const bool elided = machine::active();
    EXPECT_EQ(scripted_rwlock_unlock(&inner_rwlock), 0);
    EXPECT_EQ(scripted_mutex_unlock(&inner), 0);
    EXPECT_EQ(scripted_mutex_unlock(&around), 0);
    EXPECT_FALSE(machine::active());
    return elided;
  };
  (void)enter_all();
  EXPECT_EQ(script.counted().aborts, 1U) << "the site is made outside";
  EXPECT_TRUE(enter_all());
}

TEST_F(LocksOfTwoProcesses, WithoutMemoryTheyAreTaken) {
  site_asks(1, lock_kind::fifo_ticket, shore, rwlock_kind::as_mutex);
  pthread_mutex_t mutex = made(PTHREAD_MUTEX_NORMAL);
  pthread_rwlock_t rwlock = made_rwlock();
  become_another_process();
  for (unsigned nth = 1; nth <= 40; ++nth) script.fail_map_pages(nth);
  EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
  EXPECT_TRUE(state_of(&mutex).word.queue.is_held());
  EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
  EXPECT_EQ(scripted_rwlock_wrlock(&rwlock), 0);
  EXPECT_TRUE(state_of(&rwlock).mutex.word.queue.is_held());
  EXPECT_EQ(scripted_rwlock_unlock(&rwlock), 0);
  EXPECT_EQ(script.counted().begins, 0U);
}

TEST_F(LocksOfTwoProcesses, ReaderWriterLocksAreTheSameLockInBoth) {
  std::uint32_t site = 0;
  for (const rwlock_kind kind : {rwlock_kind::rwlock, rwlock_kind::as_mutex}) {
    for (const auto take : {scripted_rwlock_rdlock, scripted_rwlock_wrlock}) {
      for (const bool attempts_work_here : {true, false}) {
        site_asks(++site, lock_kind::ticket, shore, kind);
        pthread_rwlock_t lock = made_rwlock();
        become_another_process();
        script.begin_is(attempts_work_here ? script::begin_nature::commits : script::begin_nature::always_aborts);
        EXPECT_EQ(take(&lock), 0);
        EXPECT_EQ(machine::active(), attempts_work_here) << site;
        EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
        script.begin_is(script::begin_nature::commits);
        really([&] { return take(&lock); });
        become_another_process();
        EXPECT_EQ(scripted_rwlock_trywrlock(&lock), EBUSY) << site;
        EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
        EXPECT_EQ(scripted_rwlock_trywrlock(&lock), 0) << site;
        EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
      }
    }
  }
  EXPECT_TRUE(told.empty());
}

/// A site may have locks of both types. Which of them a process meets first must not decide what the others are.
TEST_F(LocksOfTwoProcesses, OfTheCLibraryStayItsOwnWhateverLockTheSiteHadFirst) {
  std::uint32_t site = 0;
  for (const bool rwlock_first : {true, false}) {
    for (const elision_kind elision : {elision_kind::off, shore}) {
      site_asks(++site, lock_kind::libc, elision, rwlock_kind::as_mutex, warm_up_kind::eager);
      if (rwlock_first) (void)made_rwlock();
      pthread_mutex_t mutex = made(PTHREAD_MUTEX_NORMAL);
      pthread_rwlock_t rwlock = made_rwlock();
      for (const bool in_another : {false, true}) {
        if (in_another) become_another_process();
        EXPECT_TRUE(tag_of(mutex).has_role());
        EXPECT_TRUE(is_left_to_libc(tag_of(mutex))) << site;
        EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
        EXPECT_NE(mutex.__data.__lock, 0);
        EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
        EXPECT_EQ(mutex.__data.__lock, 0);
        EXPECT_EQ(scripted_rwlock_wrlock(&rwlock), 0);
        EXPECT_EQ(machine::active(), elision == shore) << site;
        EXPECT_EQ(scripted_rwlock_unlock(&rwlock), 0);
      }
    }
  }
}

TEST_F(LocksOfTwoProcesses, WaitersRunAhead) {
  struct held_lock {
    pthread_mutex_t mutex;
    std::atomic<bool> held{false}, let_go{false};
    unsigned ran_ahead = 0;
    static void hold(void* raw) {
      auto& me = *static_cast<held_lock*>(raw);
      EXPECT_EQ(scripted_mutex_lock(&me.mutex), 0);
      me.held = true;
      while (!me.let_go.load()) machine::yield();
      EXPECT_EQ(scripted_mutex_unlock(&me.mutex), 0);
    }
  };
  std::uint32_t site = 0;
  for (const lock_kind lock : {lock_kind::mutex, lock_kind::tatas, lock_kind::ticket, lock_kind::fifo_ticket,
                               lock_kind::priority_tatas, lock_kind::libc}) {
    site_asks(++site, lock, elision_kind::off, rwlock_kind::rwlock, warm_up_kind::eager);
    const auto shared = std::make_unique<held_lock>();
    shared->mutex = made(PTHREAD_MUTEX_NORMAL);
    machine::thread holder;
    ASSERT_TRUE(holder.start(held_lock::hold, shared.get()));
    while (!shared->held.load()) machine::yield();
    become_another_process();
    EXPECT_EQ(scripted_mutex_lock(&shared->mutex), 0);
    if (is_warming()) {
      ++shared->ran_ahead;
      shared->let_go = true;
    }
    EXPECT_EQ(scripted_mutex_unlock(&shared->mutex), 0);
    EXPECT_GE(shared->ran_ahead, 1U) << site;
    holder.join();
  }
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
