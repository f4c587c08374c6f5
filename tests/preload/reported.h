// SPDX-License-Identifier: Apache-2.0
// What public bug reports say of libraries like this one, as small programs; reported_test.py runs them with and
// without it. The first argument names the case, the second is its size. Each prints one line. "POSIX leaves it
// undefined" marks what works with the C library all the same.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern pthread_mutex_t one;
extern pthread_rwlock_t table;

static inline struct timespec in_ms(clockid_t clock, long ms) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += ms % 1000 * 1000000;
  time.tv_sec += ms / 1000 + time.tv_nsec / 1000000000;
  time.tv_nsec %= 1000000000;
  return time;
}

static inline void spin_for(int turns) {
  for (volatile int i = 0; i < turns; ++i) continue;
}

/// Shared with the children of forks, and with programs that these run.
static inline void* shared_memory(size_t bytes, int* file) {
  *file = memfd_create("reported", 0);
  if (*file < 0 || ftruncate(*file, (off_t)bytes) != 0) exit(3);
  return mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
}

static inline int ended_well(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The cases, each with its size.
int coroutine(int);
int lookups(int);
int condition_alone(int);
int condition_and_mutex(int);
int condition_of_two(int);
int taker(int);
int shared_owner(int);
int shared_by_programs(int);
int sharer(int);
int held_over_fork(int);
int owner(int);
int lock_words(int);
int watchdog(int);
int deadlines(int);
int many_deadlines(int);
int old_names(int);
int small_stack(int);
int semaphore(int);
int event(int);
int last_user(int);
int reloaded(char** libraries);
