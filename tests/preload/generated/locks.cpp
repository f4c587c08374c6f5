// SPDX-License-Identifier: Apache-2.0
// How the objects of a generated program are made, taken and released.
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "old_names.hpp"
#include "state.hpp"

namespace generated {

timespec after_ms(clockid_t clock, long ms) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_sec += ms / 1000;
  time.tv_nsec += ms % 1000 * 1'000'000;
  if (time.tv_nsec >= 1'000'000'000) ++time.tv_sec, time.tv_nsec -= 1'000'000'000;
  return time;
}

void fail(const place& here, const char* what, int got, int want) {
  if (here.shared.failed.exchange(1) == 0)
    std::snprintf(here.shared.message, sizeof here.shared.message, "operation %d, thread %d: %s: %d instead of %d",
                  here.number, here.thread, what, got, want);
  else
    pause();
  kill(0, SIGKILL);
  _exit(1);
}

namespace {

int type_of(mutex_kind kind) {
  switch (kind) {
    case mutex_kind::recursive:
      return PTHREAD_MUTEX_RECURSIVE;
    case mutex_kind::error_checking:
      return PTHREAD_MUTEX_ERRORCHECK;
    case mutex_kind::adaptive:
      return PTHREAD_MUTEX_ADAPTIVE_NP;
    default:
      return PTHREAD_MUTEX_NORMAL;
  }
}

}  // namespace

void make(pthread_mutex_t& mutex, const object& as) {
  static const pthread_mutex_t ready[] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                                          PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
                                          PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP};
  if (as.static_initializer) {
    mutex = ready[static_cast<int>(as.kind)];
    return;
  }
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type_of(as.kind));
  if (as.shared) pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

namespace {

void make_slot(const program& made, const operation& one, slot& own) {
  const bool several = made.processes > 1 || one.what == deed::executed || one.what == deed::replaced;
  make(own.mutex, {static_cast<mutex_kind>(one.objects % 4), false, several});
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  if (several && (made.condition_shared || one.what != deed::turns))
    pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  for (pthread_cond_t& condition : own.condition) pthread_cond_init(&condition, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_barrierattr_t barrier;
  pthread_barrierattr_init(&barrier);
  if (several) pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&own.barrier, &barrier, static_cast<unsigned>(one.participants()));
  pthread_barrierattr_destroy(&barrier);
}

}  // namespace

void initialize(const program& made, state& shared) {
  for (int i = 0; i < mutexes; ++i) make(shared.mutex[i], made.mutex[i]);
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  if (made.rwlock_shared) pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  for (pthread_rwlock_t& rwlock : shared.rwlock) pthread_rwlock_init(&rwlock, &attributes);
  pthread_rwlockattr_destroy(&attributes);
  for (pthread_spinlock_t& spin : shared.spin)
    pthread_spin_init(&spin, made.processes > 1 ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
  for (std::size_t i = 0; i < made.operations.size(); ++i) make_slot(made, made.operations[i], shared.slots[i]);
}

int answer_of(pthread_mutex_t& mutex, how by) {
  int answer = 0;
  timespec until{};
  switch (by) {
    case how::lock:
      return pthread_mutex_lock(&mutex);
    case how::old:
      return old_mutex_lock(&mutex);
    case how::attempt:
    case how::old_attempt:
      while ((answer = by == how::attempt ? pthread_mutex_trylock(&mutex) : old_mutex_trylock(&mutex)) == EBUSY)
        sched_yield();
      return answer;
    case how::timed:
      until = after_ms(CLOCK_REALTIME, patient_ms);
      return pthread_mutex_timedlock(&mutex, &until);
    case how::clock:
      until = after_ms(CLOCK_MONOTONIC, patient_ms);
      return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until);
    case how::poll:
      do {
        until = after_ms(CLOCK_REALTIME, 1);
        answer = pthread_mutex_timedlock(&mutex, &until);
      } while (answer == ETIMEDOUT);
      return answer;
  }
  return answer;
}

void take(const place& here, pthread_mutex_t& mutex, how by) {
  check(here, "a mutex is taken", answer_of(mutex, by), 0);
}

void release(const place& here, pthread_mutex_t& mutex, how by) {
  const bool old = by == how::old || by == how::old_attempt;
  check(here, "a mutex is released", old ? old_mutex_unlock(&mutex) : pthread_mutex_unlock(&mutex), 0);
}

void count_under_mutexes(const place& here) {
  const operation& one = here.now();
  for (int turn = 0; turn < one.times; ++turn) {
    for (int m = 0; m < mutexes; ++m) {
      if ((one.objects >> m & 1) == 0) continue;
      take(here, here.shared.mutex[m], one.by);
      const bool again = here.made.mutex[m].kind == mutex_kind::recursive && turn % 4 == 0;
      if (again) take(here, here.shared.mutex[m], one.by);
      volatile long& counted = here.shared.counted.mutex[m];
      const long before = counted;
      if (turn % 8 == 3) sched_yield();  // others come while the mutex is held
      counted = before + 1;
      if (again) release(here, here.shared.mutex[m], one.by);
    }
    for (int m = mutexes - 1; m >= 0; --m)
      if ((one.objects >> m & 1) != 0) release(here, here.shared.mutex[m], one.by);
  }
}

}  // namespace generated
