// SPDX-License-Identifier: Apache-2.0
// Operations with reader-writer locks.
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

}  // namespace generated
