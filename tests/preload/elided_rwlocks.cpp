// SPDX-License-Identifier: Apache-2.0
// The preloaded library's reader-writer locks on the scripted machine. Critical sections that read and those that write
// run as attempts if the site asks for it. They give the same answers as with the lock taken. Data that threads share
// is on the heap, because an abort restores the stack.
#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <machine/scripted/script.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/observe/counters.hpp>

#include "../locks/harness/budget.hpp"
#include "policy/presets.hpp"
#include "preload/order.hpp"
#include "preload/rwlock_state.hpp"
#include "preload/speculating_sites.hpp"
#include "scripted_locks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

using machine::attempt_status;
using script::plan;

constexpr timespec long_ago{};
constexpr int (*ways_in[])(pthread_rwlock_t*) noexcept = {scripted_rwlock_rdlock, scripted_rwlock_wrlock};

class ElidedRwlocks : public ScriptedLocks {
 protected:
  ElidedRwlocks() { site_asks(1, policy::elision_kind::eager); }

  static void site_asks(std::uint32_t site, policy::elision_kind elision,
                        policy::rwlock_kind rwlock = policy::rwlock_kind::rwlock, bool counting = true,
                        policy::lock_kind lock = policy::lock_kind::mutex) {
    answer = {site, {lock, rwlock, policy::spinlock_kind::tatas, counting, elision}};
  }

  /// Of a kind, or shared between processes.
  static pthread_rwlock_t made(int kind, int shared = PTHREAD_PROCESS_PRIVATE) {
    pthread_rwlockattr_t how;
    pthread_rwlockattr_init(&how);
    pthread_rwlockattr_setkind_np(&how, kind);
    pthread_rwlockattr_setpshared(&how, shared);
    pthread_rwlock_t lock;
    EXPECT_EQ(scripted_rwlock_init(&lock, &how), 0);
    pthread_rwlockattr_destroy(&how);
    return lock;
  }

  static bool is_elided(pthread_rwlock_t& lock) {
    unsigned elided = 0;
    for (const auto enter : ways_in) {
      EXPECT_EQ(enter(&lock), 0);
      if (machine::active()) ++elided;
      EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
      EXPECT_FALSE(machine::active());
    }
    EXPECT_NE(elided, 1U);
    return elided == std::size(ways_in);
  }

  /// What `body` answers in another thread.
  static int elsewhere(const std::function<int()>& body) {
    struct call {
      const std::function<int()>& body;
      int answer = -1;
    };
    const auto made = std::make_unique<call>(call{body});
    machine::thread other;
    EXPECT_TRUE(other.start(
        [](void* raw) {
          auto& mine = *static_cast<call*>(raw);
          mine.answer = mine.body();
        },
        made.get()));
    other.join();
    return made->answer;
  }

  /// Counts what stands, though the attempt that is running may be undone.
  void note_attempt() {
    if (machine::active()) ++*attempts_seen;
  }
  const std::unique_ptr<unsigned> attempts_seen = std::make_unique<unsigned>(0);

  /// The lock, and not an attempt.
  void take(pthread_rwlock_t& lock, int (*enter)(pthread_rwlock_t*) noexcept) {
    script.on_begin(plan::aborts(0));
    EXPECT_EQ(enter(&lock), 0);
    EXPECT_FALSE(machine::active());
  }

  /// A writer that sleeps for the lock, and lets it go once it has it. Requires: somebody holds the lock.
  bool start_sleeping_writer(machine::thread& writer, pthread_rwlock_t& lock) {
    const bool started = writer.start(
        [](void* raw) {
          auto* const mine = static_cast<pthread_rwlock_t*>(raw);
          EXPECT_EQ(scripted_rwlock_wrlock(mine), 0);
          EXPECT_EQ(scripted_rwlock_unlock(mine), 0);
        },
        &lock);
    while (started && script.parked() == 0) machine::yield();
    return started;
  }
};

TEST_F(ElidedRwlocks, AreWhatTheSiteAsksFor) {
  site_asks(7, policy::named<policy::elision_kind>("shore"));
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  EXPECT_TRUE(is_elided(lock));
  EXPECT_EQ(&elision_policy_of(speculating_site_of(7).lock_site), &elision_presets::shore);
  site_asks(8, policy::elision_kind::eager, policy::rwlock_kind::rwlock, false, policy::lock_kind::libc);
  pthread_rwlock_t uncounted = made(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  EXPECT_TRUE(is_elided(uncounted)) << "lock = libc is for mutexes";
  EXPECT_NE(&speculating_site_of(8), &speculating_site_of(7));
  EXPECT_EQ(script.counted().commits, 4U);
  EXPECT_EQ(script.counted().aborts, 0U);
}

TEST_F(ElidedRwlocks, AreThePlainOnesWhereNothingAsksOrNothingWorks) {
  for (const policy::elision_kind kind : {policy::elision_kind::off, policy::elision_kind::unset}) {
    site_asks(1, kind);
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    EXPECT_FALSE(is_elided(lock));
  }
  site_asks(1, policy::elision_kind::eager, policy::rwlock_kind::libc);
  pthread_rwlock_t foreign = PTHREAD_RWLOCK_INITIALIZER;
  EXPECT_FALSE(is_elided(foreign));
  site_asks(1, policy::elision_kind::eager);
  pthread_rwlock_t shared = made(PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_PROCESS_SHARED);
  EXPECT_FALSE(is_elided(shared));
  script.fail_map_pages(1);
  pthread_rwlock_t without_memory = PTHREAD_RWLOCK_INITIALIZER;
  EXPECT_FALSE(is_elided(without_memory));
  order_watched.store(true);
  pthread_rwlock_t watched = PTHREAD_RWLOCK_INITIALIZER;
  EXPECT_FALSE(is_elided(watched));
  order_watched.store(false);
  script.begin_is(script::begin_nature::always_aborts);
  pthread_rwlock_t without_htm = PTHREAD_RWLOCK_INITIALIZER;
  EXPECT_FALSE(is_elided(without_htm));
  EXPECT_EQ(script.counted().begins, 0U);
}

TEST_F(ElidedRwlocks, ReadersRunBesideEachOtherAndWriteNothing) {
  struct shared_state {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_rwlock_t before = PTHREAD_RWLOCK_INITIALIZER;
    std::atomic<unsigned> inside{0};
    std::atomic<unsigned> unchanged{0};
    static void read(void* raw) {
      auto& me = *static_cast<shared_state*>(raw);
      EXPECT_EQ(scripted_rwlock_rdlock(&me.lock), 0);
      ++me.inside;
      while (me.inside.load() < 2) {
      }
      if (machine::active() && std::memcmp(&me.before, &me.lock, sizeof me.before) == 0) ++me.unchanged;
      EXPECT_EQ(scripted_rwlock_unlock(&me.lock), 0);
    }
  };
  const auto shared = std::make_unique<shared_state>();
  EXPECT_TRUE(is_elided(shared->lock));  // decided
  std::memcpy(&shared->before, &shared->lock, sizeof shared->before);
  machine::thread other;
  ASSERT_TRUE(other.start(shared_state::read, shared.get()));
  shared_state::read(shared.get());
  other.join();
  EXPECT_EQ(shared->unchanged.load(), 2U);
  EXPECT_EQ(script.counted().commits, 4U);
  EXPECT_EQ(script.counted().aborts, 0U);
}

TEST_F(ElidedRwlocks, RunBesideReadersThatHoldTheLockAndNotBesideWriters) {
  const auto lock = std::make_unique<pthread_rwlock_t>(pthread_rwlock_t PTHREAD_RWLOCK_INITIALIZER);
  take(*lock, scripted_rwlock_rdlock);
  EXPECT_EQ(elsewhere([&] {
              const int status = scripted_rwlock_rdlock(lock.get());
              const bool elided = machine::active();
              return status != 0 || !elided ? -1 : scripted_rwlock_unlock(lock.get());
            }),
            0);
  EXPECT_EQ(elsewhere([&] { return scripted_rwlock_trywrlock(lock.get()); }), EBUSY);
  EXPECT_EQ(elsewhere([&] { return scripted_rwlock_timedwrlock(lock.get(), &long_ago); }), ETIMEDOUT);
  EXPECT_EQ(scripted_rwlock_unlock(lock.get()), 0);

  take(*lock, scripted_rwlock_wrlock);
  EXPECT_EQ(elsewhere([&] { return scripted_rwlock_tryrdlock(lock.get()); }), EBUSY);
  EXPECT_EQ(elsewhere([&] { return scripted_rwlock_trywrlock(lock.get()); }), EBUSY);
  EXPECT_EQ(elsewhere([&] { return scripted_rwlock_timedrdlock(lock.get(), &long_ago); }), ETIMEDOUT);
  EXPECT_EQ(elsewhere([&] { return scripted_rwlock_clockwrlock(lock.get(), CLOCK_MONOTONIC, &long_ago); }), ETIMEDOUT);
  for (const auto enter : ways_in) EXPECT_EQ(enter(lock.get()), EDEADLK);
  EXPECT_EQ(scripted_rwlock_tryrdlock(lock.get()), EBUSY);
  EXPECT_EQ(scripted_rwlock_unlock(lock.get()), 0);
  EXPECT_TRUE(is_elided(*lock));
  EXPECT_TRUE(told.empty());
}

// A reader that finds a writer inside waits for the writer's end, and is then elided. This policy waits for as long as
// that takes.
TEST_F(ElidedRwlocks, ReadersWaitForAWriterOutside) {
  site_asks(7, policy::named<policy::elision_kind>("shore"));
  struct shared_state {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    std::atomic<bool> inside{false};
    std::atomic<bool> leave{false};
  };
  const auto shared = std::make_unique<shared_state>();
  EXPECT_TRUE(is_elided(shared->lock));
  const script::counts before = script.counted();
  script.on_begin(plan::aborts(0));
  machine::thread writer;
  ASSERT_TRUE(writer.start(
      [](void* raw) {
        auto& mine = *static_cast<shared_state*>(raw);
        EXPECT_EQ(scripted_rwlock_wrlock(&mine.lock), 0);
        mine.inside = true;
        while (!mine.leave) machine::yield();
        EXPECT_EQ(scripted_rwlock_unlock(&mine.lock), 0);
      },
      shared.get()));
  while (!shared->inside) machine::yield();
  machine::thread reader;
  ASSERT_TRUE(reader.start(
      [](void* raw) {
        auto& mine = *static_cast<shared_state*>(raw);
        EXPECT_EQ(scripted_rwlock_rdlock(&mine.lock), 0);
        EXPECT_TRUE(machine::active());
        EXPECT_EQ(scripted_rwlock_unlock(&mine.lock), 0);
      },
      shared.get()));
  while (script.counted().aborts < before.aborts + 2) machine::yield();
  shared->leave = true;
  writer.join();
  reader.join();
  EXPECT_EQ(script.counted().begins, before.begins + 3);
}

TEST_F(ElidedRwlocks, FallBackByCause) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  EXPECT_TRUE(is_elided(lock));
  for (const auto enter : ways_in) {
    script.on_begin(plan::aborts(attempt_status::capacity_bit));
    EXPECT_EQ(enter(&lock), 0);
    EXPECT_FALSE(machine::active()) << "too large for an attempt: the lock";
    EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
    script.on_begin(plan::aborts(attempt_status::conflict_bit | attempt_status::retry_bit));
    EXPECT_EQ(enter(&lock), 0);
    EXPECT_TRUE(machine::active()) << "met another section: again";
    EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
  }
}

TEST_F(ElidedRwlocks, ReadersComeAgain) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  for (const unsigned times : {3U, 12U}) {  // 12: more than an attempt keeps account of
    for (unsigned i = 0; i < times; ++i)
      EXPECT_EQ(i % 2 == 0 ? scripted_rwlock_rdlock(&lock) : scripted_rwlock_tryrdlock(&lock), 0);
    EXPECT_EQ(scripted_rwlock_timedrdlock(&lock, &long_ago), 0);
    for (unsigned i = 0; i < times + 1; ++i) EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
    EXPECT_FALSE(machine::active());
    EXPECT_EQ(scripted_rwlock_unlock(&lock), 0) << times;
    EXPECT_EQ(told.back(), diagnostic_kind::double_unlock);
  }
}

TEST_F(ElidedRwlocks, AReaderThatWantsToWriteAnswersAsWithTheLock) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  EXPECT_EQ(scripted_rwlock_rdlock(&lock), 0);
  EXPECT_EQ(scripted_rwlock_trywrlock(&lock), EBUSY);
  note_attempt();
  EXPECT_EQ(scripted_rwlock_timedwrlock(&lock, &long_ago), ETIMEDOUT);
  EXPECT_FALSE(machine::active()) << "a wait finds out outside";
  EXPECT_EQ(*attempts_seen, 1U) << "a try inside";
  EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
  EXPECT_TRUE(is_elided(lock));
}

TEST_F(ElidedRwlocks, AWriterThatComesAgainAnswersAsWithTheLock) {
  for (const auto again : ways_in) {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    EXPECT_EQ(scripted_rwlock_wrlock(&lock), 0);
    EXPECT_EQ(scripted_rwlock_tryrdlock(&lock), EBUSY);
    EXPECT_EQ(scripted_rwlock_trywrlock(&lock), EBUSY);
    note_attempt();
    EXPECT_EQ(again(&lock), EDEADLK);
    EXPECT_FALSE(machine::active());
    EXPECT_EQ(std::exchange(*attempts_seen, 0U), 1U);
    EXPECT_EQ(scripted_rwlock_timedrdlock(&lock, &long_ago), EDEADLK);
    EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
    EXPECT_TRUE(is_elided(lock));
  }
}

TEST_F(ElidedRwlocks, OfDeadlinesLookAtTheTimeOnlyWhereTheyWait) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  const timespec no_time{0, -1};
  EXPECT_EQ(scripted_rwlock_timedrdlock(&lock, &no_time), EINVAL) << "though it is free";
  EXPECT_EQ(scripted_rwlock_timedrdlock(&lock, &long_ago), 0);
  note_attempt();
  EXPECT_EQ(scripted_rwlock_timedwrlock(&lock, &long_ago), ETIMEDOUT);
  EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
  EXPECT_EQ(*attempts_seen, 1U);
  EXPECT_EQ(scripted_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &long_ago), 0);
  EXPECT_TRUE(machine::active());
  EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
  EXPECT_EQ(scripted_rwlock_clockrdlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &long_ago), EINVAL);
}

// A lock made for writers: a reader stays out while a writer sleeps, and a writer goes where readers see it.
TEST_F(ElidedRwlocks, WritersFirstWhereAskedFor) {
  const auto lock = std::make_unique<pthread_rwlock_t>(made(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
  EXPECT_TRUE(is_elided(*lock));
  take(*lock, scripted_rwlock_rdlock);
  machine::thread writer;
  ASSERT_TRUE(start_sleeping_writer(writer, *lock));
  EXPECT_EQ(scripted_rwlock_tryrdlock(lock.get()), EBUSY);
  EXPECT_EQ(scripted_rwlock_timedrdlock(lock.get(), &long_ago), ETIMEDOUT);
  EXPECT_EQ(scripted_rwlock_unlock(lock.get()), 0);
  writer.join();
  EXPECT_TRUE(is_elided(*lock));
}

// The writer that sleeps is a thread of the parent: a reader would wait for it, outside of attempts too, for ever.
TEST_F(ElidedRwlocks, InTheChildOfAForkSleepersOfTheParentKeepNobodyOut) {
  if (conformance::maybe_emulated) GTEST_SKIP() << "emulators do not tell the child of a fork by its memory";
  const auto lock = std::make_unique<pthread_rwlock_t>(made(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
  take(*lock, scripted_rwlock_rdlock);
  machine::thread writer;
  ASSERT_TRUE(start_sleeping_writer(writer, *lock));
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    bool right = scripted_rwlock_rdlock(lock.get()) == 0;
    right = scripted_rwlock_unlock(lock.get()) == 0 && right;
    right = scripted_rwlock_tryrdlock(lock.get()) == 0 && right;
    right = scripted_rwlock_unlock(lock.get()) == 0 && right;
    right = scripted_rwlock_unlock(lock.get()) == 0 && right;  // of the parent
    _exit(right && scripted_rwlock_trywrlock(lock.get()) == 0 ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(scripted_rwlock_unlock(lock.get()), 0);
  writer.join();
}

TEST_F(ElidedRwlocks, WithinSectionsOfOtherLocks) {
  pthread_mutex_t around = PTHREAD_MUTEX_INITIALIZER;
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_t other = PTHREAD_RWLOCK_INITIALIZER;
  EXPECT_EQ(scripted_mutex_lock(&around), 0);
  EXPECT_EQ(scripted_rwlock_rdlock(&lock), 0);
  EXPECT_EQ(scripted_rwlock_wrlock(&other), 0);
  EXPECT_EQ(scripted_mutex_unlock(&around), 0);  // crossed
  EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
  EXPECT_TRUE(machine::active());
  EXPECT_EQ(scripted_rwlock_unlock(&other), 0);
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(script.counted().begins, 1U);
  EXPECT_EQ(script.counted().commits, 1U);
  // A section of a lock that is held already ends in another one.
  take(lock, scripted_rwlock_rdlock);
  EXPECT_EQ(scripted_mutex_lock(&around), 0);
  EXPECT_EQ(scripted_rwlock_rdlock(&lock), 0);
  EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
  EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
  EXPECT_TRUE(machine::active());
  EXPECT_EQ(scripted_mutex_unlock(&around), 0);
  EXPECT_EQ(scripted_rwlock_trywrlock(&lock), 0) << "free";
  EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
}

TEST_F(ElidedRwlocks, ADoubleUnlockIsToldAndHarmless) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_mutex_t around = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_TRUE(is_elided(lock));
  EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
  EXPECT_EQ(told, std::vector{diagnostic_kind::double_unlock});
  // In another section: that is left for the lock, and comes here again.
  EXPECT_EQ(scripted_mutex_lock(&around), 0);
  EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(scripted_mutex_unlock(&around), 0);
  EXPECT_EQ(told.size(), 2U);
  EXPECT_TRUE(is_elided(lock));
}

TEST_F(ElidedRwlocks, AStrangersUnlockIsToldOutside) {
  const auto lock = std::make_unique<pthread_rwlock_t>(pthread_rwlock_t PTHREAD_RWLOCK_INITIALIZER);
  pthread_mutex_t around = PTHREAD_MUTEX_INITIALIZER;
  script.on_begin(plan::aborts(0));
  EXPECT_EQ(elsewhere([&] { return scripted_rwlock_wrlock(lock.get()); }), 0);
  EXPECT_EQ(scripted_mutex_lock(&around), 0);
  note_attempt();
  EXPECT_EQ(scripted_rwlock_unlock(lock.get()), 0);
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(*attempts_seen, 1U);
  EXPECT_EQ(scripted_mutex_unlock(&around), 0);
  EXPECT_EQ(told, std::vector{diagnostic_kind::unlock_by_non_owner});
  EXPECT_TRUE(is_elided(*lock));
}

TEST_F(ElidedRwlocks, DestroyedInItsSectionItStaysHeld) {
  for (const policy::rwlock_kind kind : {policy::rwlock_kind::rwlock, policy::rwlock_kind::as_mutex}) {
    for (const auto enter : ways_in) {
      told.clear();
      site_asks(1, policy::elision_kind::eager, kind);
      pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
      EXPECT_EQ(enter(&lock), 0);
      note_attempt();
      EXPECT_EQ(scripted_rwlock_destroy(&lock), 0);
      EXPECT_EQ(elsewhere([&] { return scripted_rwlock_trywrlock(&lock); }), EBUSY);
      EXPECT_FALSE(machine::active());
      EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
      EXPECT_EQ(told, std::vector{diagnostic_kind::destroyed_locked});
      EXPECT_EQ(std::exchange(*attempts_seen, 0U), 1U);
      EXPECT_EQ(scripted_rwlock_destroy(&lock), 0);
      // What is made there next has to be decided anew.
      site_asks(2, policy::elision_kind::off);
      EXPECT_EQ(scripted_rwlock_init(&lock, nullptr), 0);
      EXPECT_FALSE(is_elided(lock));
    }
  }
}

TEST_F(ElidedRwlocks, TakeNoSamplesInAttempts) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_mutex_t around = PTHREAD_MUTEX_INITIALIZER;
  std::int32_t& left = observe::detail::until_sample;
  left = 1;
  EXPECT_TRUE(is_elided(lock));
  EXPECT_EQ(scripted_mutex_lock(&around), 0);
  EXPECT_EQ(scripted_rwlock_rdlock(&lock), 0);
  EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
  EXPECT_EQ(scripted_mutex_unlock(&around), 0);
  EXPECT_EQ(left, 1) << "attempts are counted one by one";
}

TEST_F(ElidedRwlocks, AreReadAsOftenAsCanBeCounted) {
  for (const policy::elision_kind kind : {policy::elision_kind::off, policy::elision_kind::eager}) {
    site_asks(kind == policy::elision_kind::off ? 1 : 2, kind);
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    take(lock, scripted_rwlock_rdlock);
    // The word of the lock counts its readers from its lowest bit on.
    auto& readers = reinterpret_cast<std::atomic<std::uint64_t>&>(state_of(&lock).shared.rwlock);
    readers = 1U << 30;
    EXPECT_EQ(scripted_rwlock_rdlock(&lock), EAGAIN);
    EXPECT_EQ(scripted_rwlock_timedrdlock(&lock, &long_ago), EAGAIN);
    EXPECT_NE(scripted_rwlock_tryrdlock(&lock), 0);
    EXPECT_EQ(scripted_rwlock_trywrlock(&lock), EBUSY);
    EXPECT_EQ(readers, 1U << 30);
    EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
    take(lock, scripted_rwlock_tryrdlock);
    readers = 1;
    EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
    EXPECT_EQ(scripted_rwlock_destroy(&lock), 0);
  }
}

TEST_F(ElidedRwlocks, AsMutexesAreReadAsOftenAsCanBeCounted) {
  site_asks(1, policy::elision_kind::off, policy::rwlock_kind::as_mutex);
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  EXPECT_EQ(scripted_rwlock_rdlock(&lock), 0);
  state_of(&lock).mutex.hold.fetch_add(mutex_state::depth_bits - mutex_state::once_more);
  EXPECT_EQ(scripted_rwlock_rdlock(&lock), 0);
  EXPECT_EQ(scripted_rwlock_rdlock(&lock), EAGAIN);
  EXPECT_EQ(scripted_rwlock_tryrdlock(&lock), EAGAIN);
  EXPECT_EQ(elsewhere([&] { return scripted_rwlock_trywrlock(&lock); }), EBUSY);
  EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
  state_of(&lock).mutex.hold.fetch_and(~mutex_state::depth_bits);
  EXPECT_EQ(scripted_rwlock_unlock(&lock), 0);
  EXPECT_EQ(scripted_rwlock_destroy(&lock), 0);
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
