// SPDX-License-Identifier: Apache-2.0
// Objects that end, and others that begin at their addresses.
#include <sched.h>

#include <cerrno>

#include "old_names.hpp"
#include "state.hpp"

namespace generated {
namespace {

/// What has been at an address must not matter to what is there next.
union memory {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
  pthread_spinlock_t spin;
  pthread_cond_t condition;
  pthread_barrier_t barrier;
};

struct company {
  const place& here;
  memory at;
  pthread_barrier_t start;
  long counted = 0;
};

/// Two threads do it; each counts `renewed_rounds`.
using body = void (*)(company&);

void run_two(company& two, body both) {
  struct arguments {
    company& two;
    body both;
  } given{two, both};
  pthread_t other;
  check(two.here, "a thread starts",
        pthread_create(
            &other, nullptr,
            [](void* argument) -> void* {
              const arguments& mine = *static_cast<arguments*>(argument);
              pthread_barrier_wait(&mine.two.start);
              mine.both(mine.two);
              return nullptr;
            },
            &given),
        0);
  pthread_barrier_wait(&two.start);
  both(two);
  check(two.here, "a thread is joined", pthread_join(other, nullptr), 0);
}

bool old_names(const place& here) { return here.now().by == how::old || here.now().by == how::old_attempt; }

void count_slowly(company& two, int round) {
  volatile long& counted = two.counted;
  const long before = counted;
  if (round % 8 == 3) sched_yield();
  counted = before + 1;
}

void be_mutex(company& two, int kind) {
  const place& here = two.here;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, kind);
  check(here, "a mutex is made", (old_names(here) ? old_mutex_init : pthread_mutex_init)(&two.at.mutex, &attributes),
        0);
  pthread_mutexattr_destroy(&attributes);
  run_two(two, [](company& mine) {
    for (int i = 0; i < renewed_rounds; ++i) {
      take(mine.here, mine.at.mutex, mine.here.now().by);
      count_slowly(mine, i);
      release(mine.here, mine.at.mutex, mine.here.now().by);
    }
  });
  check(here, "a mutex ends", (old_names(here) ? old_mutex_destroy : pthread_mutex_destroy)(&two.at.mutex), 0);
}

void be_rwlock(company& two) {
  const place& here = two.here;
  check(here, "a reader-writer lock is made",
        (old_names(here) ? old_rwlock_init : pthread_rwlock_init)(&two.at.rwlock, nullptr), 0);
  run_two(two, [](company& mine) {
    for (int i = 0; i < renewed_rounds; ++i) {
      check(mine.here, "a lock is taken to write", pthread_rwlock_wrlock(&mine.at.rwlock), 0);
      count_slowly(mine, i);
      check(mine.here, "a lock is released by a writer", pthread_rwlock_unlock(&mine.at.rwlock), 0);
    }
  });
  check(here, "a reader-writer lock ends",
        (old_names(here) ? old_rwlock_destroy : pthread_rwlock_destroy)(&two.at.rwlock), 0);
}

void be_spin_lock(company& two) {
  check(two.here, "a spin lock is made", pthread_spin_init(&two.at.spin, PTHREAD_PROCESS_PRIVATE), 0);
  run_two(two, [](company& mine) {
    for (int i = 0; i < renewed_rounds; ++i) {
      check(mine.here, "a spin lock is taken", pthread_spin_lock(&mine.at.spin), 0);
      count_slowly(mine, 0);
      check(mine.here, "a spin lock is released", pthread_spin_unlock(&mine.at.spin), 0);
    }
  });
  check(two.here, "a spin lock ends", pthread_spin_destroy(&two.at.spin), 0);
}

void be_condition(company& two) {
  check(two.here, "a condition is made", pthread_cond_init(&two.at.condition, nullptr), 0);
  run_two(two, [](company& mine) {
    slot& own = mine.here.own();
    for (int i = 0; i < renewed_rounds; ++i) {
      take(mine.here, own.mutex, how::lock);
      // The first to come waits for the second, which tells it.
      const long round = mine.counted / 2;
      ++mine.counted;
      if (mine.counted % 2 == 0) check(mine.here, "waiters are told", pthread_cond_broadcast(&mine.at.condition), 0);
      while (mine.counted / 2 == round)
        check(mine.here, "a wait ends", pthread_cond_wait(&mine.at.condition, &own.mutex), 0);
      release(mine.here, own.mutex, how::lock);
    }
  });
  check(two.here, "a condition ends", pthread_cond_destroy(&two.at.condition), 0);
}

void be_barrier(company& two) {
  check(two.here, "a barrier is made", pthread_barrier_init(&two.at.barrier, nullptr, 2), 0);
  run_two(two, [](company& mine) {
    for (int i = 0; i < renewed_rounds; ++i)
      if (pthread_barrier_wait(&mine.at.barrier) == PTHREAD_BARRIER_SERIAL_THREAD) mine.counted += 2;
  });
  check(two.here, "a barrier ends", pthread_barrier_destroy(&two.at.barrier), 0);
}

}  // namespace

void renew(const place& here) {
  company two{here, {}, {}, 0};
  pthread_barrier_init(&two.start, nullptr, 2);
  for (int i = 0; i < here.now().times; ++i) {
    be_mutex(two, PTHREAD_MUTEX_NORMAL);
    be_condition(two);
    be_mutex(two, PTHREAD_MUTEX_RECURSIVE);
    be_rwlock(two);
    be_mutex(two, PTHREAD_MUTEX_ERRORCHECK);
    be_barrier(two);
    be_mutex(two, PTHREAD_MUTEX_ADAPTIVE_NP);
    be_spin_lock(two);
  }
  pthread_barrier_destroy(&two.start);
  here.shared.counted.operation[here.number] = two.counted;
}

}  // namespace generated
