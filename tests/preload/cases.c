// SPDX-License-Identifier: Apache-2.0
// Small programs that went wrong once under the preloaded library; cases_test.py runs them. Each prints a number or a
// word.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t inside;
static volatile int stop;
static long count;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// ---- one thread gives the lock up and takes it again at once; another asks for it that often: the longest wait, ms

static void* hog(void* unused) {
  while (!stop) {
    pthread_mutex_lock(&first);
    for (const double end = seconds() + 100e-6; seconds() < end;) continue;
    pthread_mutex_unlock(&first);
  }
  return unused;
}

static int starve(int turns) {
  pthread_t thread;
  double longest = 0;
  pthread_create(&thread, 0, hog, 0);
  usleep(5000);
  for (int i = 0; i < turns; ++i) {
    usleep(200);
    const double begin = seconds();
    pthread_mutex_lock(&first);
    if (seconds() - begin > longest) longest = seconds() - begin;
    pthread_mutex_unlock(&first);
  }
  stop = 1;
  pthread_join(thread, 0);
  printf("%.3f\n", longest * 1e3);
  return 0;
}

// ---- the same of a reader-writer lock: one thread writes again and again, one asks to read and one to write

static long sections;

static void* hog_table(void* unused) {
  while (!stop) {
    pthread_rwlock_wrlock(&table);
    __atomic_fetch_add(&sections, 1, __ATOMIC_RELAXED);
    for (const double end = seconds() + 100e-6; seconds() < end;) continue;
    pthread_rwlock_unlock(&table);
  }
  return unused;
}

struct asker {
  int writes, turns;
  double longest;
  long passed;
};

static void* ask(void* raw) {
  struct asker* const me = raw;
  for (int i = 0; i < me->turns; ++i) {
    usleep(200);
    const long before = __atomic_load_n(&sections, __ATOMIC_RELAXED);
    const double begin = seconds();
    if (me->writes) {
      pthread_rwlock_wrlock(&table);
    } else {
      pthread_rwlock_rdlock(&table);
    }
    if (seconds() - begin > me->longest) me->longest = seconds() - begin;
    if (sections - before > me->passed) me->passed = sections - before;
    pthread_rwlock_unlock(&table);
  }
  return 0;
}

static int starve_rwlock(int turns) {
  pthread_t hogs, threads[2];
  struct asker askers[2] = {{0, turns, 0, 0}, {1, turns, 0, 0}};
  pthread_create(&hogs, 0, hog_table, 0);
  usleep(5000);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, ask, &askers[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  stop = 1;
  pthread_join(hogs, 0);
  for (int i = 0; i < 2; ++i)
    fprintf(stderr, "to %s: %.3f ms, %ld sections went by\n", i == 0 ? "read" : "write", askers[i].longest * 1e3,
            askers[i].passed);
  const int worse = askers[1].longest > askers[0].longest;
  printf("%.3f\n", askers[worse].longest * 1e3);
  return 0;
}

// ---- two threads take turns, signal before unlock: microseconds a turn

static int turn, turns_each;

static void* take_turns(void* raw) {
  const int me = raw != 0;
  for (int i = 0; i < turns_each; ++i) {
    pthread_mutex_lock(&first);
    while (turn != me) pthread_cond_wait(&turned, &first);
    turn = !me;
    pthread_cond_signal(&turned);
    pthread_mutex_unlock(&first);
  }
  return 0;
}

static int hand_over(int turns) {
  pthread_t threads[2];
  turns_each = turns;
  const double begin = seconds();
  pthread_create(&threads[0], 0, take_turns, 0);
  pthread_create(&threads[1], 0, take_turns, &turn);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  printf("%.3f\n", (seconds() - begin) * 1e6 / (2 * turns));
  return 0;
}

// ---- so many threads wait for a lock and stay when they have had it: microseconds for each from its unlock on

static void* wait_once(void* unused) {
  pthread_mutex_lock(&first);
  ++count;
  pthread_mutex_unlock(&first);
  pthread_mutex_lock(&second);
  pthread_mutex_unlock(&second);
  return unused;
}

static int drain(int waiters) {
  pthread_t* threads = calloc((size_t)waiters, sizeof *threads);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  pthread_mutex_lock(&first);
  pthread_mutex_lock(&second);
  int made = 0;
  while (made < waiters && pthread_create(&threads[made], &small, wait_once, 0) == 0) ++made;
  usleep(50000);
  const double begin = seconds();
  pthread_mutex_unlock(&first);
  for (int done = 0; !done;) {
    usleep(100);
    pthread_mutex_lock(&first);
    done = count == made;
    pthread_mutex_unlock(&first);
  }
  printf("%.3f\n", (seconds() - begin) * 1e6 / made);
  pthread_mutex_unlock(&second);
  for (int i = 0; i < made; ++i) pthread_join(threads[i], 0);
  return count != made;
}

// ---- readers that wait for each other inside

static void* read_together(void* unused) {
  for (int i = 0; i < 3; ++i) {
    pthread_rwlock_rdlock(&table);
    pthread_barrier_wait(&inside);
    pthread_rwlock_unlock(&table);
  }
  return unused;
}

static int readers_meet(void) {
  pthread_t threads[2];
  pthread_barrier_init(&inside, 0, 2);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, read_together, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  puts("met");
  return 0;
}

// ---- two locks taken in both orders: never ends

static void* other_way(void* unused) {
  pthread_mutex_lock(&second);
  pthread_barrier_wait(&inside);
  pthread_mutex_lock(&first);
  return unused;
}

static int deadlock(void) {
  pthread_t thread;
  pthread_barrier_init(&inside, 0, 2);
  pthread_mutex_lock(&first);
  pthread_create(&thread, 0, other_way, 0);
  pthread_barrier_wait(&inside);
  pthread_mutex_lock(&second);
  return 1;
}

// ---- locks as a wrapper finds them, by version, and as the linker does: one must see what the other has locked

static int by_version(const char* version) {
  int (*lock)(pthread_mutex_t*) = (int (*)(pthread_mutex_t*))dlvsym(RTLD_DEFAULT, "pthread_mutex_lock", version);
  int (*unlock)(pthread_mutex_t*) = (int (*)(pthread_mutex_t*))dlvsym(RTLD_DEFAULT, "pthread_mutex_unlock", version);
  if (lock == 0 || unlock == 0) return 2;
  lock(&first);
  const int busy = pthread_mutex_trylock(&first);
  unlock(&first);
  const int free_again = pthread_mutex_trylock(&first);
  puts(busy == EBUSY && free_again == 0 ? "one" : "two");
  return 0;
}

// ---- locks of short life that nobody initialises by a call: CPU nanoseconds for each

static volatile int sink;

__attribute__((noinline)) static void deep(int depth, pthread_mutex_t* mutex) {
  if (depth > 0) {
    deep(depth - 1, mutex);
    sink = depth;  // so that the call above has a frame of its own
    return;
  }
  pthread_mutex_lock(mutex);
  ++count;
  pthread_mutex_unlock(mutex);
}

static int short_lives(int depth, int times) {
  struct timespec used;
  for (int i = 0; i < times; ++i) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    __asm__ volatile("" : : "r"(&mutex) : "memory");
    deep(depth, &mutex);
  }
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  printf("%.3f\n", ((double)used.tv_sec * 1e9 + (double)used.tv_nsec) / times);
  return count != times;
}

// ---- real-time threads of two priorities on one CPU: how often the higher one, which naps, gets in; 77: no right to

static void* low_priority(void* unused) {
  while (!stop) {
    pthread_mutex_lock(&first);
    pthread_cond_signal(&turned);
    for (volatile int i = 0; i < 2000; ++i) continue;
    pthread_mutex_unlock(&first);
  }
  return unused;
}
static void* high_priority(void* unused) {
  const struct timespec nap = {0, 50000};
  while (!stop) {
    nanosleep(&nap, 0);
    pthread_mutex_lock(&first);
    ++count;
    pthread_mutex_unlock(&first);
  }
  return unused;
}

static int start_at(int priority, pthread_t* thread, void* (*work)(void*)) {
  pthread_attr_t attributes;
  const struct sched_param parameters = {.sched_priority = priority};
  pthread_attr_init(&attributes);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
  pthread_attr_setschedparam(&attributes, &parameters);
  return pthread_create(thread, &attributes, work, 0);
}

static int priorities(void) {
  cpu_set_t allowed, one;
  int cpu = 0;
  sched_getaffinity(0, sizeof allowed, &allowed);
  while (!CPU_ISSET(cpu, &allowed)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
  // The main thread ends the others, so it comes before both.
  const struct sched_param highest = {.sched_priority = 60};
  pthread_t low, high;
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &highest) != 0) return 77;
  if (start_at(5, &low, low_priority) != 0 || start_at(50, &high, high_priority) != 0) return 77;
  usleep(200000);
  stop = 1;
  pthread_join(high, 0);
  pthread_join(low, 0);
  printf("%ld\n", count);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const which = argv[1];
  const int number = atoi(argv[2]);
  if (!strcmp(which, "starve")) return starve(number);
  if (!strcmp(which, "starve_rwlock")) return starve_rwlock(number);
  if (!strcmp(which, "hand_over")) return hand_over(number);
  if (!strcmp(which, "drain")) return drain(number);
  if (!strcmp(which, "readers_meet")) return readers_meet();
  if (!strcmp(which, "deadlock")) return deadlock();
  if (!strcmp(which, "by_version")) return by_version(argv[2]);
  if (!strcmp(which, "short_lives")) return argc > 3 ? short_lives(number, atoi(argv[3])) : 2;
  if (!strcmp(which, "priorities")) return priorities();
  return 2;
}
