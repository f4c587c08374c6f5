// SPDX-License-Identifier: Apache-2.0
// Operations with reader-writer locks. What holders are answered who ask again is the C library's: POSIX allows it, and
// asks for none of it.
#include <sched.h>

#include <cerrno>
#include <ctime>

#include "old_names.hpp"
#include "state.hpp"

namespace generated {
namespace {

struct functions {
  int (*lock)(pthread_rwlock_t*);
  int (*attempt)(pthread_rwlock_t*);
  int (*timed)(pthread_rwlock_t*, const timespec*);
  int (*clock)(pthread_rwlock_t*, clockid_t, const timespec*);
  int (*old)(pthread_rwlock_t*);
  int (*old_attempt)(pthread_rwlock_t*);
};
constexpr functions reading{pthread_rwlock_rdlock,      pthread_rwlock_tryrdlock, pthread_rwlock_timedrdlock,
                            pthread_rwlock_clockrdlock, old_rwlock_rdlock,        old_rwlock_tryrdlock};
constexpr functions writing{pthread_rwlock_wrlock,      pthread_rwlock_trywrlock, pthread_rwlock_timedwrlock,
                            pthread_rwlock_clockwrlock, old_rwlock_wrlock,        old_rwlock_trywrlock};

int lock_within(pthread_rwlock_t& rwlock, const functions& as, bool by_clock, long ms) {
  const timespec until = after_ms(by_clock ? CLOCK_MONOTONIC : CLOCK_REALTIME, ms);
  return by_clock ? as.clock(&rwlock, CLOCK_MONOTONIC, &until) : as.timed(&rwlock, &until);
}

int lock_by(pthread_rwlock_t& rwlock, const functions& as, how by) {
  int answer = 0;
  switch (by) {
    case how::lock:
      return as.lock(&rwlock);
    case how::old:
      return as.old(&rwlock);
    case how::attempt:
      while ((answer = as.attempt(&rwlock)) == EBUSY) sched_yield();
      return answer;
    case how::old_attempt:
      while ((answer = as.old_attempt(&rwlock)) == EBUSY) sched_yield();
      return answer;
    case how::poll:
      while ((answer = lock_within(rwlock, as, false, 1)) == ETIMEDOUT) {
      }
      return answer;
    default:
      return lock_within(rwlock, as, by == how::clock, patient_ms);
  }
}

/// Old names and today's meet at one lock: threads of odd numbers use today's.
how way_of(const place& here) {
  if (here.thread % 2 == 0) return here.now().by;
  return here.now().by == how::old ? how::lock : here.now().by == how::old_attempt ? how::attempt : here.now().by;
}

void take(const place& here, pthread_rwlock_t& rwlock, const functions& as) {
  check(here, &as == &reading ? "a lock is taken to read" : "a lock is taken to write",
        lock_by(rwlock, as, way_of(here)), 0);
}

void release(const place& here, pthread_rwlock_t& rwlock) {
  const bool old = way_of(here) == how::old || way_of(here) == how::old_attempt;
  check(here, "a reader-writer lock is released", old ? old_rwlock_unlock(&rwlock) : pthread_rwlock_unlock(&rwlock), 0);
}

pthread_rwlock_t& chosen(const place& here) { return here.shared.rwlock[here.now().objects % rwlocks]; }

struct visit {
  const place& here;
  pthread_rwlock_t& rwlock;
};

/// Deadlines pass while another thread has the lock, to write or, with `ready`, to read.
void* miss_deadlines(void* argument) {
  const auto& [here, rwlock] = *static_cast<visit*>(argument);
  const bool by_clock = here.now().signal;
  check(here, "a writer's deadline passes", lock_within(rwlock, writing, by_clock, 1), ETIMEDOUT);
  check(here, "a writer's deadline has passed", lock_within(rwlock, writing, by_clock, -1000), ETIMEDOUT);
  check(here, "a writer attempts", pthread_rwlock_trywrlock(&rwlock), EBUSY);
  if (here.own().ready == 0) {
    check(here, "a reader's deadline passes", lock_within(rwlock, reading, by_clock, 1), ETIMEDOUT);
    check(here, "a reader attempts", pthread_rwlock_tryrdlock(&rwlock), EBUSY);
  }
  here.own().done = 1;
  // Who has missed a deadline is no less a writer or reader afterwards.
  check(here, "a writer has a deadline that does not pass", lock_within(rwlock, writing, by_clock, patient_ms), 0);
  release(here, rwlock);
  check(here, "a reader has a deadline that does not pass", lock_within(rwlock, reading, by_clock, patient_ms), 0);
  release(here, rwlock);
  return nullptr;
}

/// The third alone keeps readers out who come after a writer.
constexpr int kinds[] = {PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NP,
                         PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP};

void make(const place& here, pthread_rwlock_t& rwlock, int kind, bool shared) {
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  check(here, "a lock's preference is set", pthread_rwlockattr_setkind_np(&attributes, kind), 0);
  if (shared) pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  check(here, "a reader-writer lock is made", pthread_rwlock_init(&rwlock, &attributes), 0);
  pthread_rwlockattr_destroy(&attributes);
}

void count(const place& here) {
  volatile long& counted = here.shared.counted.operation[here.number];
  const long before = counted;
  sched_yield();
  counted = before + 1;
}

/// Who only attempts, or gives up after a millisecond, is no writer that readers make way for.
how waiting_way(const place& here) {
  const how by = way_of(here);
  return by == how::attempt ? how::lock : by == how::poll ? how::timed : by == how::old_attempt ? how::old : by;
}

void* write_once(void* argument) {
  const auto& [here, rwlock] = *static_cast<visit*>(argument);
  check(here, "a lock is taken to write", lock_by(rwlock, writing, waiting_way(here)), 0);
  count(here);
  here.own().done = 1;
  release(here, rwlock);
  return nullptr;
}

/// Readers stay out who come after a writer that waits. As a mutex, the lock lets its holder in again.
void come_after_writer(const place& here, pthread_rwlock_t& rwlock) {
  int answer = 0;
  for (int tries = 0; tries < 100 && answer == 0; ++tries) {
    answer = pthread_rwlock_tryrdlock(&rwlock);
    if (answer == 0) release(here, rwlock);
    sched_yield();
  }
  if (answer == 0) return;
  check(here, "a reader attempts while a writer waits", answer, EBUSY);
  check(here, "a reader's deadline passes while a writer waits", lock_within(rwlock, reading, here.now().signal, 1),
        ETIMEDOUT);
}

/// A thread reads several times, and asks to write, while another waits to write.
void ask_as_reader(const place& here, pthread_rwlock_t& rwlock, bool recursive) {
  visit other_thread{here, rwlock};
  take(here, rwlock, reading);
  const pthread_t writer = start_thread(here, write_once, &other_thread);
  int holds = 1;
  if (!recursive) come_after_writer(here, rwlock);
  for (int way = 0; recursive && way < ways; ++way, ++holds) {
    check(here, "a reader reads again", lock_by(rwlock, reading, static_cast<how>(way)), 0);
    sched_yield();
  }
  check(here, "a reader attempts to write", pthread_rwlock_trywrlock(&rwlock), EBUSY);
  // A mutex that readers take too knows its holder.
  const int answer = lock_within(rwlock, writing, here.now().signal, 1);
  check(here, "a reader asks to write", answer == EDEADLK ? ETIMEDOUT : answer, ETIMEDOUT);
  for (; holds > 0; --holds) {
    check(here, "nobody has written while a thread reads", static_cast<int>(here.own().done), 0);
    release(here, rwlock);
  }
  join_thread(here, writer);
}

void ask_as_writer(const place& here, pthread_rwlock_t& rwlock) {
  take(here, rwlock, writing);
  for (const functions* const as : {&reading, &writing}) {
    check(here, "a writer asks again", as->lock(&rwlock), EDEADLK);
    check(here, "a writer asks again by the old name", as->old(&rwlock), EDEADLK);
    check(here, "a writer attempts again", as->attempt(&rwlock), EBUSY);
    for (const bool by_clock : {false, true})
      check(here, "a writer asks again with a deadline", lock_within(rwlock, *as, by_clock, patient_ms), EDEADLK);
  }
  release(here, rwlock);
}

void* read_until_written(void* argument) {
  const auto& [here, rwlock] = *static_cast<visit*>(argument);
  while (here.own().done == 0) {
    take(here, rwlock, reading);
    for (int i = 0; i < 3; ++i) sched_yield();
    release(here, rwlock);
  }
  return nullptr;
}

/// Readers who overlap keep no writer out for whom the lock was made.
void write_among_readers(const place& here, pthread_rwlock_t& rwlock) {
  visit other_thread{here, rwlock};
  const pthread_t one = start_thread(here, read_until_written, &other_thread);
  const pthread_t another = start_thread(here, read_until_written, &other_thread);
  write_once(&other_thread);
  join_thread(here, one);
  join_thread(here, another);
}

}  // namespace

void read_and_write(const place& here) {
  const auto which = here.now().objects % rwlocks;
  pthread_rwlock_t& rwlock = chosen(here);
  volatile long& counted = here.shared.counted.rwlock[which];
  volatile long& mirror = here.shared.mirror[which];
  for (int i = 0; i < here.now().times; ++i) {
    const bool dwells = i % 8 == 3;
    for (int reads = 0; reads < 3; ++reads) {
      take(here, rwlock, reading);
      check(here, "readers see what a writer wrote", static_cast<int>(counted - mirror), 0);
      release(here, rwlock);
    }
    take(here, rwlock, writing);
    counted = counted + 1;
    if (dwells) sched_yield();
    mirror = mirror + 1;
    release(here, rwlock);
  }
}

void let_rwlock_expire(const place& here) {
  // What processes share is mostly the C library's.
  pthread_rwlock_t of_this_process = PTHREAD_RWLOCK_INITIALIZER;
  const bool shares = here.now().objects % 4 >= rwlocks && (here.made.processes == 1 || here.made.rwlock_shared);
  pthread_rwlock_t& rwlock = shares ? chosen(here) : of_this_process;
  slot& own = here.own();
  visit other_thread{here, rwlock};
  for (int i = 0; i < here.now().times; ++i) {
    own.ready = i % 2;
    own.done = 0;
    take(here, rwlock, own.ready == 0 ? writing : reading);
    pthread_t other;
    check(here, "a thread starts", pthread_create(&other, nullptr, miss_deadlines, &other_thread), 0);
    while (own.done == 0) sched_yield();
    release(here, rwlock);
    check(here, "a thread is joined", pthread_join(other, nullptr), 0);
  }
  pthread_rwlock_destroy(&of_this_process);
}

void ask_holders(const place& here) {
  pthread_rwlock_t rwlock;
  const bool shared = (here.now().objects & 8) != 0 && here.made.processes > 1;
  const int kind = kinds[here.now().objects % 4];
  const bool recursive = kind != PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
  make(here, rwlock, kind, shared);
  for (int i = 0; i < here.now().times; ++i) {
    here.own().done = 0;
    ask_as_writer(here, rwlock);
    ask_as_reader(here, rwlock, recursive);
    here.own().done = 0;
    if (recursive) {
      visit this_thread{here, rwlock};
      write_once(&this_thread);
    } else {
      write_among_readers(here, rwlock);
    }
  }
  check(here, "a reader-writer lock is destroyed", pthread_rwlock_destroy(&rwlock), 0);
}

}  // namespace generated
