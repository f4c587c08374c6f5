// SPDX-License-Identifier: Apache-2.0
// Cases of reported.h: waits with a deadline.
#include "reported.h"

#include <errno.h>
#include <threads.h>

// ---- watchdog: a wait with a deadline for a lock that is nearly always free (OSv, 1426)

static mtx_t standard;
static volatile int stop;

static void* work(void* which) {
  while (!stop) {
    switch ((intptr_t)which) {
      case 0:
        pthread_mutex_lock(&one);
        spin_for(2000);
        pthread_mutex_unlock(&one);
        break;
      case 1:
        pthread_rwlock_wrlock(&table);
        spin_for(2000);
        pthread_rwlock_unlock(&table);
        break;
      default:
        mtx_lock(&standard);
        spin_for(2000);
        mtx_unlock(&standard);
    }
  }
  return 0;
}

enum { ways = 7 };

/// By each function that waits with a deadline. The locks in the order of work().
static int lock_within(int way, long ms) {
  const struct timespec date = in_ms(CLOCK_REALTIME, ms), time = in_ms(CLOCK_MONOTONIC, ms);
  switch (way) {
    case 0:
      return pthread_mutex_timedlock(&one, &date);
    case 1:
      return pthread_mutex_clocklock(&one, CLOCK_MONOTONIC, &time);
    case 2:
      return pthread_rwlock_timedwrlock(&table, &date);
    case 3:
      return pthread_rwlock_clockwrlock(&table, CLOCK_MONOTONIC, &time);
    case 4:
      return pthread_rwlock_timedrdlock(&table, &date);
    case 5:
      return pthread_rwlock_clockrdlock(&table, CLOCK_MONOTONIC, &time);
    default:
      return mtx_timedlock(&standard, &date) == thrd_success ? 0 : ETIMEDOUT;
  }
}

static void unlock_lock(int which) {
  if (which == 0) pthread_mutex_unlock(&one);
  if (which == 1) pthread_rwlock_unlock(&table);
  if (which == 2) mtx_unlock(&standard);
}

int watchdog(int ms) {
  static const int locks[ways] = {0, 0, 1, 1, 1, 1, 2};
  char failed[64] = "";
  mtx_init(&standard, mtx_timed);
  for (int way = 0; way < ways; ++way) {
    pthread_t threads[3];
    stop = 0;
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, work, (void*)(intptr_t)locks[way]);
    for (int i = 0; i < (ms > 1000 ? 1 : 3); ++i) {  // a wait that stands in no line takes long
      usleep(1000);
      if (lock_within(way, ms) == 0)
        unlock_lock(locks[way]);
      else
        snprintf(failed + strlen(failed), sizeof failed - strlen(failed), " %d", way);
    }
    stop = 1;
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  }
  printf("failed:%s\n", failed);
  return 0;
}

// ---- deadlines: waits that end for nothing, among others that do not

enum { tries_each = 100 };  // a turn takes 7 ms where other programs have the processors
static long sum, gained[8], expired;

static void* try_for_moments(void* raw) {
  const intptr_t me = (intptr_t)raw;
  for (int i = 0; i < tries_each; ++i) {
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 1000 * (i * 37 % 300);
    if (soon.tv_nsec >= 1000000000) soon.tv_nsec -= 1000000000, ++soon.tv_sec;
    if (me % 2 == 0 ? pthread_mutex_timedlock(&one, &soon) != 0 : pthread_mutex_lock(&one) != 0) {
      __atomic_fetch_add(&expired, 1, __ATOMIC_RELAXED);
      continue;
    }
    ++sum;
    ++gained[me];
    if (i % 20 == 0)
      usleep(300);
    else
      spin_for(300);
    pthread_mutex_unlock(&one);
  }
  return 0;
}

int deadlines(int threads) {
  pthread_t all[8];
  long lost = 0;
  for (intptr_t i = 0; i < threads; ++i) pthread_create(&all[i], 0, try_for_moments, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], 0);
  for (int i = 0; i < threads; ++i) lost += gained[i];
  const int is_free = pthread_mutex_trylock(&one) == 0;
  printf("lost %ld, all ended: %d, free: %d\n", lost - sum, sum + expired == (long)tries_each * threads, is_free);
  return 0;
}

// ---- many_deadlines: more waits with a deadline than a ticket lock has room for (256), with the lock and without

static int began, granted, refused, intruders;
static long wait_ms;

static void* wait_within(void* unused) {
  static int inside;
  const struct timespec end = in_ms(CLOCK_REALTIME, wait_ms);
  __atomic_fetch_add(&began, 1, __ATOMIC_SEQ_CST);
  if (pthread_mutex_timedlock(&one, &end) != 0) {
    __atomic_fetch_add(&refused, 1, __ATOMIC_SEQ_CST);
    return unused;
  }
  intruders += __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST) != 0;
  ++granted;
  spin_for(100);
  __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&one);
  return unused;
}

/// They come while the lock is held. It is given up before their time is over, or afterwards.
static void round_of_waits(int threads, long ms, int is_in_time) {
  pthread_t all[512];
  began = granted = refused = 0;
  wait_ms = ms;
  pthread_mutex_lock(&one);
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], 0, wait_within, 0);
  while (__atomic_load_n(&began, __ATOMIC_SEQ_CST) < threads) usleep(1000);
  usleep(5000);
  while (!is_in_time && __atomic_load_n(&refused, __ATOMIC_SEQ_CST) < threads) usleep(1000);
  pthread_mutex_unlock(&one);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], 0);
}

int many_deadlines(int threads) {
  if (threads > 512) return 3;
  round_of_waits(threads, 30, 0);
  printf("late: granted %d, missing %d", granted, threads - refused);
  round_of_waits(threads, 60000, 1);
  printf("; in time: refused %d, missing %d", refused, threads - granted);
  printf("; intruders %d, free: %d\n", intruders, pthread_mutex_trylock(&one) == 0);
  return 0;
}
