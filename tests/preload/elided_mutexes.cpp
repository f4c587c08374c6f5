// SPDX-License-Identifier: Apache-2.0
// The preloaded library's mutexes on the scripted machine, which has transactions even if this machine has none. It
// tests what a site's policy makes of them, and that no mistake of a program ends in a fault. Their functions are those
// of src/preload/mutex.cpp under other names (scripted_locks.hpp).
#include <gtest/gtest.h>

#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include <machine/scripted/script.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/observe/counters.hpp>

#include "locks/tagged_lock.hpp"
#include "policy/presets.hpp"
#include "preload/order.hpp"
#include "preload/speculating_sites.hpp"
#include "scripted_locks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

using script::machine_script;
using script::plan;

class ElidedMutexes : public ScriptedLocks {
 protected:
  ElidedMutexes() { site_asks(1, policy::elision_kind::eager); }

  static void site_asks(std::uint32_t site, policy::elision_kind elision, bool counting = true,
                        policy::lock_kind lock = policy::lock_kind::mutex) {
    answer = {site, {lock, policy::rwlock_kind::rwlock, policy::spinlock_kind::tatas, counting, elision}};
  }

  static lock_tag tag_of(pthread_mutex_t& mutex) { return lock_tag(state_of(&mutex).tag.load()); }
  static bool is_elided(pthread_mutex_t& mutex) {
    EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
    const bool elided = machine::active();
    EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
    EXPECT_FALSE(machine::active());
    return elided;
  }
};

TEST_F(ElidedMutexes, AreWhatTheSiteAsksFor) {
  std::uint32_t site = max_sites - 20;
  for (std::size_t row = 0; row < std::size(policy::elision_table); ++row) {
    site_asks(++site, policy::kind_of_row<policy::elision_kind>(row));
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    EXPECT_TRUE(is_elided(mutex));
    EXPECT_EQ(&elision_policy_of(speculating_site_of(site).lock_site), policy::elision_table[row].policy);
    EXPECT_EQ(tag_of(mutex).site(), site);
  }
}

TEST_F(ElidedMutexes, OfOneSiteLearnTogetherAndOfTwoDoNot) {
  pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_TRUE(is_elided(first));
  speculating_site* const first_site = &speculating_site_of(1);
  EXPECT_TRUE(is_elided(second));
  EXPECT_EQ(&speculating_site_of(1), first_site);
  site_asks(2, policy::elision_kind::eager, false);
  pthread_mutex_t uncounted = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_TRUE(is_elided(uncounted));
  EXPECT_NE(&speculating_site_of(2), first_site);
  EXPECT_EQ(tag_of(uncounted).site(), 0U);
  EXPECT_EQ(tag_of(uncounted).role(), 2U);
}

/// A page cannot be mapped in an attempt. What is found there must not be what the lock stays.
TEST_F(ElidedMutexes, OfASiteThatIsMetInAnAttemptAreElidedAllTheSame) {
  pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_TRUE(is_elided(outer));
  EXPECT_EQ(scripted_mutex_lock(&outer), 0);
  site_asks(2, policy::elision_kind::eager);
  EXPECT_EQ(scripted_mutex_lock(&inner), 0);
  EXPECT_EQ(scripted_mutex_unlock(&inner), 0);
  EXPECT_EQ(scripted_mutex_unlock(&outer), 0);
  EXPECT_EQ(tag_of(inner).role(), 2U);
  EXPECT_TRUE(tag_of(inner).has_role());
  EXPECT_TRUE(is_elided(inner));
}

TEST_F(ElidedMutexes, FallBackOnTheLockThatThePolicyNames) {
  std::uint32_t site = 20;
  for (const policy::lock_kind lock : {policy::lock_kind::spin, policy::lock_kind::tatas, policy::lock_kind::ticket,
                                       policy::lock_kind::fifo_ticket, policy::lock_kind::priority_tatas}) {
    site_asks(++site, policy::named<policy::elision_kind>("shore"), true, lock);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    EXPECT_TRUE(is_elided(mutex));
    script.on_begin(plan::aborts(0));
    EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
    EXPECT_FALSE(machine::active());
    EXPECT_EQ(scripted_mutex_trylock(&mutex), EBUSY) << "held, and attempts see it";
    EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
    EXPECT_TRUE(is_elided(mutex));
  }
}

TEST_F(ElidedMutexes, AreThePlainOnesWhereNothingAsksOrNothingWorks) {
  for (const policy::elision_kind kind : {policy::elision_kind::off, policy::elision_kind::unset}) {
    site_asks(1, kind);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    EXPECT_FALSE(is_elided(mutex));
    EXPECT_EQ(tag_of(mutex).lock_algorithm(), algorithm::futex);
  }
  site_asks(1, policy::elision_kind::eager, true, policy::lock_kind::libc);
  pthread_mutex_t foreign = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_FALSE(is_elided(foreign));
  EXPECT_EQ(tag_of(foreign).lock_algorithm(), algorithm::libc);
  site_asks(1, policy::elision_kind::eager);
  script.fail_map_pages(1);
  pthread_mutex_t without_memory = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_FALSE(is_elided(without_memory));
  EXPECT_EQ(tag_of(without_memory).lock_algorithm(), algorithm::futex);
  script.begin_is(script::begin_nature::always_aborts);
  pthread_mutex_t without_htm = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_FALSE(is_elided(without_htm));
  EXPECT_EQ(tag_of(without_htm).lock_algorithm(), algorithm::futex) << "the fast path: it costs nothing";
  EXPECT_EQ(script.counted().begins, 0U);
}

// Thesis on TSX in InnoDB, B.1: the first glibc with elision never elided a mutex whose type had been set.
// pthread_mutex_destroy() returned EBUSY.
TEST_F(ElidedMutexes, OfEveryTypeButErrorCheckingAndCanBeDestroyed) {
  for (const int type : {PTHREAD_MUTEX_DEFAULT, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ADAPTIVE_NP,
                         PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK}) {
    pthread_mutex_t mutex = made(type);
    EXPECT_EQ(is_elided(mutex), type != PTHREAD_MUTEX_ERRORCHECK) << type;
    EXPECT_EQ(scripted_mutex_trylock(&mutex), 0);
    EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
    EXPECT_EQ(scripted_mutex_destroy(&mutex), 0) << type;
    EXPECT_EQ(scripted_mutex_lock(&mutex), EINVAL) << type;
  }
  order_watched.store(true);
  pthread_mutex_t watched = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_FALSE(is_elided(watched));
  EXPECT_TRUE(told.empty());
}

TEST_F(ElidedMutexes, HaveAFastPathWhateverTheirTypeUnlessTheirOrderIsWatched) {
  site_asks(1, policy::elision_kind::off);
  for (const bool watches : {false, true}) {
    order_watched.store(watches);
    for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK}) {
      pthread_mutex_t mutex = made(type);
      EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
      EXPECT_EQ(tag_of(mutex).is_fast(), !watches) << type;
      EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
    }
  }
}

TEST_F(ElidedMutexes, AttributesThatWereNeverInitialised) {
  static const pthread_mutexattr_t zero{};
  pthread_mutex_t mutex;
  ASSERT_EQ(scripted_mutex_init(&mutex, &zero), 0);
  EXPECT_TRUE(is_elided(mutex));
  EXPECT_EQ(scripted_mutex_destroy(&mutex), 0);
}

TEST_F(ElidedMutexes, TriesWithinTheSection) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_EQ(scripted_mutex_trylock(&mutex), 0);
  EXPECT_TRUE(machine::active());
  EXPECT_EQ(scripted_mutex_trylock(&mutex), EBUSY);
  EXPECT_EQ(scripted_mutex_trylock(&other), 0);
  EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
  EXPECT_EQ(scripted_mutex_unlock(&other), 0);
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(script.counted().commits, 1U);
}

TEST_F(ElidedMutexes, RecursiveOnesAreTakenAgain) {
  pthread_mutex_t mutex = made(PTHREAD_MUTEX_RECURSIVE);
  for (const bool elided : {true, false}) {
    if (!elided) script.on_begin(plan::aborts(0));
    EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
    EXPECT_EQ(scripted_mutex_trylock(&mutex), 0);
    EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
    EXPECT_EQ(machine::active(), elided);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
    EXPECT_FALSE(machine::active());
    EXPECT_EQ(scripted_mutex_unlock(&mutex), EPERM);
  }
}

// The commonest complaint of elision's users: an unlock too many ended the program (strongswan#1079, torque#407).
TEST_F(ElidedMutexes, ADoubleUnlockIsToldAndHarmless) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t around = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_TRUE(is_elided(mutex));
  EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
  EXPECT_EQ(told, std::vector{diagnostic_kind::double_unlock});
  // In another section: that is left for the lock, and comes here again.
  EXPECT_EQ(scripted_mutex_lock(&around), 0);
  EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(scripted_mutex_unlock(&around), 0);
  EXPECT_EQ(told.size(), 2U);
  EXPECT_TRUE(is_elided(mutex));
}

TEST_F(ElidedMutexes, DestroyedInItsSectionItIsBusy) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
  EXPECT_EQ(scripted_mutex_destroy(&mutex), EBUSY);
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
  EXPECT_EQ(told, std::vector{diagnostic_kind::destroyed_locked});
  EXPECT_EQ(scripted_mutex_destroy(&mutex), 0);
}

TEST_F(ElidedMutexes, AWaitWithADeadlineForOneselfTimesOut) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const timespec long_ago{};
  const timespec no_time{0, -1};
  EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
  EXPECT_EQ(scripted_mutex_timedlock(&mutex, &long_ago), ETIMEDOUT);
  EXPECT_EQ(scripted_mutex_timedlock(&mutex, &no_time), EINVAL);
  EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
  EXPECT_EQ(scripted_mutex_timedlock(&mutex, &long_ago), 0);
  EXPECT_TRUE(machine::active());
  EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
}

/// The part of a thread of another process that uses the same memory is played: it has the lock, and is not yet known.
TEST_F(ElidedMutexes, AWaiterWithADeadlineLeavesNoTicketToAnOwnerThatItDoesNotKnow) {
  for (const policy::lock_kind lock : {policy::lock_kind::ticket, policy::lock_kind::fifo_ticket}) {
    site_asks(1, policy::elision_kind::off, true, lock);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
    EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
    mutex_state& state = state_of(&mutex);
    ASSERT_TRUE(state.word.queue.draw_if_served());
    int status = -1;
    std::thread waiter([&] {
      const timespec past{};
      status = scripted_mutex_timedlock(&mutex, &past);
      if (status == 0) status = scripted_mutex_unlock(&mutex);
    });
    while (state.word.queue.active() < 2) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    state.mark.store(static_cast<std::uint16_t>(state.mark.load() ^ 1) | detail::tagged_lock::of_several);
    state.word.queue.serve_next();  // without a look at this process's list
    waiter.join();
    EXPECT_EQ(status, 0);
    EXPECT_FALSE(state.word.queue.is_held()) << "or nobody ever gets it";
  }
}

TEST_F(ElidedMutexes, NobodyStandsInLineBeforeAnOwnerIsKnown) {
  for (const policy::lock_kind lock : {policy::lock_kind::ticket, policy::lock_kind::fifo_ticket}) {
    site_asks(1, policy::elision_kind::off, true, lock);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
    EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
    mutex_state& state = state_of(&mutex);
    state.mark.store(0);
    ASSERT_TRUE(state.word.queue.draw_if_served());
    const timespec past{};
    EXPECT_EQ(scripted_mutex_timedlock(&mutex, &past), ETIMEDOUT);
    EXPECT_EQ(state.word.queue.active(), 1U);
    state.word.queue.serve_next();
    EXPECT_EQ(scripted_mutex_timedlock(&mutex, &past), 0);
    EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
  }
}

TEST_F(ElidedMutexes, TakeNoSamplesInAttempts) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t around = PTHREAD_MUTEX_INITIALIZER;
  std::int32_t& left = observe::detail::until_sample;
  left = 1;
  EXPECT_TRUE(is_elided(mutex));
  EXPECT_EQ(scripted_mutex_lock(&around), 0);
  EXPECT_TRUE(machine::active());
  EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
  EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
  EXPECT_EQ(scripted_mutex_unlock(&around), 0);
  EXPECT_EQ(left, 1) << "attempts are counted one by one";
}

TEST_F(ElidedMutexes, AConditionWaitTakesTheLockFirst) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
  EXPECT_EQ(release_for_wait(&mutex), 0);
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(scripted_mutex_trylock(&mutex), 0) << "given up for the wait";
  EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
  int status = 0;
  take_after_wait(&mutex, status);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
}

TEST_F(ElidedMutexes, RecursiveOnesAreTakenAsOftenAsCanBeCounted) {
  site_asks(1, policy::elision_kind::off);
  pthread_mutex_t mutex = made(PTHREAD_MUTEX_RECURSIVE);
  EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
  state_of(&mutex).hold.fetch_add(mutex_state::depth_bits - mutex_state::once_more);
  EXPECT_EQ(scripted_mutex_lock(&mutex), 0);
  EXPECT_EQ(scripted_mutex_lock(&mutex), EAGAIN);
  EXPECT_EQ(scripted_mutex_trylock(&mutex), EAGAIN);
  EXPECT_EQ(state_of(&mutex).hold.load() & mutex_state::depth_bits, mutex_state::depth_bits);
  EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
  EXPECT_EQ(scripted_mutex_trylock(&mutex), 0);
  state_of(&mutex).hold.fetch_and(~mutex_state::depth_bits);
  EXPECT_EQ(scripted_mutex_unlock(&mutex), 0);
  EXPECT_EQ(scripted_mutex_destroy(&mutex), 0);
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
