// SPDX-License-Identifier: Apache-2.0
// The preloaded library's mutexes whose waiters run their critical section ahead of time (always-abort paper, section
// III). It tests what the program's own section does in such an attempt, and that it then runs for real, once. The
// scripted machine undoes only the stack: what a test wants to know about an attempt it keeps elsewhere.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include <txsync/machine/thread.hpp>
#include <txsync/speculate/warming.hpp>

#include "preload/acquisition.hpp"
#include "scripted_locks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

/// One lock with two faces: a mutex, or a reader-writer lock that the policy makes one.
struct face {
  int (*lock)(void* lock);
  int (*unlock)(void* lock);
};
constexpr face mutex_face = {[](void* lock) { return scripted_mutex_lock(static_cast<pthread_mutex_t*>(lock)); },
                             [](void* lock) { return scripted_mutex_unlock(static_cast<pthread_mutex_t*>(lock)); }};
constexpr face reader_face = {[](void* lock) { return scripted_rwlock_rdlock(static_cast<pthread_rwlock_t*>(lock)); },
                              [](void* lock) { return scripted_rwlock_unlock(static_cast<pthread_rwlock_t*>(lock)); }};
constexpr face writer_face = {[](void* lock) { return scripted_rwlock_wrlock(static_cast<pthread_rwlock_t*>(lock)); },
                              [](void* lock) { return scripted_rwlock_unlock(static_cast<pthread_rwlock_t*>(lock)); }};

/// On the heap, because an abort puts back the stack.
struct shared_state {
  union {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_rwlock_t rwlock;
  };
  pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
  pthread_rwlock_t inner_rwlock = PTHREAD_RWLOCK_INITIALIZER;
  face how = mutex_face;
  std::atomic<bool> held{false};
  std::atomic<bool> let_go{false};
  std::atomic<unsigned> ran_ahead{0};
  std::atomic<unsigned> ran{0};

  shared_state() noexcept {}
  static void hold(void* raw) {
    auto& me = *static_cast<shared_state*>(raw);
    EXPECT_EQ(me.how.lock(&me.mutex), 0);
    me.held = true;
    while (!me.let_go.load()) machine::yield();
    EXPECT_EQ(me.how.unlock(&me.mutex), 0);
  }
};

class LocksRunAhead : public ScriptedLocks {
 protected:
  static void site_asks(std::uint32_t site, policy::lock_kind lock,
                        policy::warm_up_kind warm_up = policy::warm_up_kind::eager,
                        policy::elision_kind elision = policy::elision_kind::off) {
    answer = {site, {lock, policy::rwlock_kind::as_mutex, policy::spinlock_kind::tatas, true, elision, warm_up}};
  }

  /// A section behind a holder that gives the lock up once the section has been run ahead; `inside` is called in it,
  /// each time.
  void run_behind_a_holder(shared_state& shared, const std::function<void()>& inside = [] {}) {
    machine::thread holder;
    ASSERT_TRUE(holder.start(shared_state::hold, &shared));
    while (!shared.held.load()) machine::yield();
    EXPECT_EQ(shared.how.lock(&shared.mutex), 0);
    if (is_warming()) {
      ++shared.ran_ahead;
      inside();
      shared.let_go = true;
    } else {
      ++shared.ran;
    }
    EXPECT_EQ(shared.how.unlock(&shared.mutex), 0);
    EXPECT_FALSE(machine::active());
    holder.join();
    EXPECT_EQ(shared.ran.load(), 1U);
  }
};

TEST_F(LocksRunAhead, AndComeBack) {
  std::uint32_t site = 0;
  for (const face& how : {mutex_face, reader_face, writer_face}) {
    for (const policy::lock_kind lock : {policy::lock_kind::mutex, policy::lock_kind::tatas, policy::lock_kind::ticket,
                                         policy::lock_kind::fifo_ticket, policy::lock_kind::priority_tatas}) {
      site_asks(++site, lock);
      const auto shared = std::make_unique<shared_state>();
      shared->how = how;
      if (how.lock != mutex_face.lock) shared->rwlock = PTHREAD_RWLOCK_INITIALIZER;
      run_behind_a_holder(*shared);
      EXPECT_GE(shared->ran_ahead.load(), 1U) << site;
      EXPECT_LE(shared->ran_ahead.load(), warm_up_presets::eager.tries) << site;
    }
  }
  EXPECT_TRUE(told.empty());
}

/// Another thread holds the mutex until attempts have begun `times` times, and a little longer.
class held_mutex {
 public:
  held_mutex(shared_state& shared, script::machine_script& on, std::uint64_t times)
      : shared_(shared), script_(on), until_(on.counted().warm_begins + times) {
    EXPECT_TRUE(holder_.start(shared_state::hold, &shared));
    while (!shared.held.load()) machine::yield();
    EXPECT_TRUE(watch_.start(let_go, this));
  }
  ~held_mutex() {
    watch_.join();
    holder_.join();
  }
  held_mutex(const held_mutex&) = delete;
  held_mutex& operator=(const held_mutex&) = delete;

 private:
  static void let_go(void* raw) {
    auto& me = *static_cast<held_mutex*>(raw);
    while (me.script_.counted().warm_begins < me.until_) machine::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // one attempt more would be seen
    me.shared_.let_go = true;
  }

  shared_state& shared_;
  script::machine_script& script_;
  std::uint64_t until_;
  machine::thread holder_, watch_;
};

TEST_F(LocksRunAhead, OverTheCLibrarysMutexFourTimesBeforeItSleeps) {
  for (const bool counting : {true, false}) {
    const std::uint32_t site = counting ? 1 : 2;
    site_asks(site, policy::lock_kind::libc, policy::named<policy::warm_up_kind>("paper"));
    answer.policy.counting = counting;
    const std::uint64_t before = script.counted().warm_begins;
    const auto shared = std::make_unique<shared_state>();
    const auto held = std::make_unique<held_mutex>(*shared, script, 4);
    EXPECT_EQ(scripted_mutex_lock(&shared->mutex), 0);
    ++(is_warming() ? shared->ran_ahead : shared->ran);
    EXPECT_EQ(scripted_mutex_unlock(&shared->mutex), 0);
    EXPECT_EQ(shared->ran_ahead.load(), 4U);
    EXPECT_EQ(shared->ran.load(), 1U);
    EXPECT_EQ(script.counted().warm_begins - before, 4U);
    const lock_tag tag(state_of(&shared->mutex).tag.load());
    EXPECT_TRUE(is_left_to_libc(tag));
    EXPECT_EQ(tag.site(), counting ? site : 0);
  }
}

TEST_F(LocksRunAhead, OverTheCLibrarysMutexOnlyWhereThePolicyAsks) {
  const auto tag_of = [](pthread_mutex_t mutex) { return lock_tag(state_of(&mutex).tag.load()); };
  site_asks(1, policy::lock_kind::libc, policy::warm_up_kind::off, policy::elision_kind::eager);
  EXPECT_EQ(tag_of(made(PTHREAD_MUTEX_NORMAL)).lock_algorithm(), algorithm::libc) << "its word is not ours to look at";
  site_asks(2, policy::lock_kind::libc);
  EXPECT_EQ(tag_of(made(PTHREAD_MUTEX_ERRORCHECK)).lock_algorithm(), algorithm::libc);
  EXPECT_TRUE(tag_of(made(PTHREAD_MUTEX_RECURSIVE)).has_role());
}

TEST_F(LocksRunAhead, AndPassByMutexesOfTheCLibrary) {
  const auto shared = std::make_unique<shared_state>();
  site_asks(1, policy::lock_kind::libc, policy::warm_up_kind::off);
  EXPECT_EQ(scripted_mutex_lock(&shared->inner), 0);
  EXPECT_EQ(scripted_mutex_unlock(&shared->inner), 0);
  site_asks(2, policy::lock_kind::libc);
  run_behind_a_holder(*shared, [&] {
    EXPECT_EQ(scripted_mutex_lock(&shared->inner), 0);
    EXPECT_EQ(shared->inner.__data.__lock, 0) << "not taken";
    EXPECT_EQ(scripted_mutex_trylock(&shared->mutex), 0) << "not even the one that is held";
    EXPECT_EQ(scripted_mutex_unlock(&shared->inner), 0);
    EXPECT_TRUE(is_warming()) << "its unlock ends nothing";
  });
  EXPECT_GE(shared->ran_ahead.load(), 1U);
}

TEST_F(LocksRunAhead, ByThePapersPriorityOnceEach) {
  site_asks(1, policy::lock_kind::priority_tatas, policy::named<policy::warm_up_kind>("paper-priority"));
  const auto shared = std::make_unique<shared_state>();
  run_behind_a_holder(*shared);
  EXPECT_EQ(shared->ran_ahead.load(), 1U);
  EXPECT_EQ(script.counted().warm_begins, 1U);
  EXPECT_EQ(lock_under(lock_tag(state_of(&shared->mutex).tag.load())), algorithm::priority_tatas);
  EXPECT_FALSE(state_of(&shared->mutex).word.priority.has_ready());
}

TEST_F(LocksRunAhead, LeaveOtherLocksAlone) {
  site_asks(1, policy::lock_kind::fifo_ticket);
  const auto shared = std::make_unique<shared_state>();
  EXPECT_EQ(scripted_mutex_lock(&shared->inner), 0);  // decided, so that an attempt writes nothing of it
  EXPECT_EQ(scripted_mutex_unlock(&shared->inner), 0);
  EXPECT_EQ(scripted_rwlock_wrlock(&shared->inner_rwlock), 0);
  EXPECT_EQ(scripted_rwlock_unlock(&shared->inner_rwlock), 0);
  run_behind_a_holder(*shared, [&] {
    EXPECT_EQ(scripted_mutex_lock(&shared->inner), 0);
    EXPECT_EQ(state_of(&shared->inner).owner(), 0U) << "not taken";
    EXPECT_EQ(scripted_mutex_trylock(&shared->mutex), 0) << "not even the one that is held";
    EXPECT_EQ(scripted_rwlock_rdlock(&shared->inner_rwlock), 0);
    EXPECT_EQ(scripted_rwlock_unlock(&shared->inner_rwlock), 0);
    EXPECT_EQ(scripted_mutex_unlock(&shared->inner), 0);
    EXPECT_TRUE(is_warming()) << "their unlock ends nothing";
  });
  EXPECT_GE(shared->ran_ahead.load(), 1U);
  EXPECT_EQ(scripted_mutex_trylock(&shared->inner), 0);
  EXPECT_EQ(scripted_mutex_unlock(&shared->inner), 0);
}

TEST_F(LocksRunAhead, WaitForNothingInAnAttempt) {
  site_asks(1, policy::lock_kind::tatas);
  const auto shared = std::make_unique<shared_state>();
  run_behind_a_holder(*shared, [&] {
    shared->let_go = true;
    int status = 0;
    EXPECT_EQ(status = release_for_wait(&shared->mutex), -1) << "a wait on a condition does not return";
  });
  EXPECT_GE(shared->ran_ahead.load(), 1U);
}

TEST_F(LocksRunAhead, AlsoWhereElisionHasGivenUp) {
  site_asks(1, policy::lock_kind::tatas, policy::warm_up_kind::eager, policy::named<policy::elision_kind>("shore"));
  const auto shared = std::make_unique<shared_state>();
  for (int i = 0; i < 4; ++i) script.on_begin(script::plan::aborts(0));
  run_behind_a_holder(*shared);
  EXPECT_GE(shared->ran_ahead.load(), 1U);
}

TEST_F(LocksRunAhead, OnlyWhereTheMachineCanAndThePolicyAsks) {
  site_asks(1, policy::lock_kind::ticket, policy::warm_up_kind::off);
  pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
  EXPECT_EQ(scripted_mutex_lock(&plain), 0);
  EXPECT_EQ(lock_tag(state_of(&plain).tag.load()).lock_algorithm(), algorithm::ticket);
  EXPECT_EQ(scripted_mutex_unlock(&plain), 0);
  site_asks(1, policy::lock_kind::ticket);
  pthread_mutex_t asked = made(PTHREAD_MUTEX_NORMAL);
  EXPECT_TRUE(lock_tag(state_of(&asked).tag.load()).has_role());
  EXPECT_EQ(&warm_up_policy_of(speculating_site_of(1).lock_site), &warm_up_presets::eager);
  pthread_mutex_t checking = made(PTHREAD_MUTEX_ERRORCHECK);
  EXPECT_FALSE(lock_tag(state_of(&checking).tag.load()).has_role()) << "it wants to know its owner";
  script.begin_is(script::begin_nature::always_aborts);
  pthread_mutex_t without_htm = made(PTHREAD_MUTEX_NORMAL);
  EXPECT_EQ(lock_tag(state_of(&without_htm).tag.load()).lock_algorithm(), algorithm::ticket) << "it costs nothing";
}

TEST_F(LocksRunAhead, ReadersComeAgainUnderALockOfAnyKind) {
  std::uint32_t site = 0;
  for (const policy::lock_kind lock :
       {policy::lock_kind::mutex, policy::lock_kind::tatas, policy::lock_kind::ticket, policy::lock_kind::libc}) {
    for (const policy::elision_kind elision : {policy::elision_kind::off, policy::elision_kind::eager}) {
      site_asks(++site, lock, policy::warm_up_kind::off, elision);
      pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
      EXPECT_EQ(scripted_rwlock_rdlock(&rwlock), 0);
      EXPECT_EQ(machine::active(), elision == policy::elision_kind::eager) << site;
      EXPECT_EQ(scripted_rwlock_rdlock(&rwlock), 0);
      EXPECT_EQ(scripted_rwlock_tryrdlock(&rwlock), 0) << site;
      if (elision == policy::elision_kind::off) {
        EXPECT_EQ(scripted_rwlock_wrlock(&rwlock), EDEADLK);
      }
      EXPECT_EQ(scripted_rwlock_unlock(&rwlock), 0);
      EXPECT_EQ(scripted_rwlock_unlock(&rwlock), 0);
      EXPECT_EQ(scripted_rwlock_unlock(&rwlock), 0);
      EXPECT_FALSE(machine::active());
      EXPECT_EQ(scripted_rwlock_trywrlock(&rwlock), 0);
      EXPECT_EQ(scripted_rwlock_unlock(&rwlock), 0);
    }
  }
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
