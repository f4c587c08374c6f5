// SPDX-License-Identifier: Apache-2.0
// Cases of reported.h: who holds a lock: processes, owners, old names.
#include "reported.h"

#include <errno.h>
#include <sys/syscall.h>

// ---- condition: two programs use one without the attribute (interprocess, 53). POSIX leaves it undefined.

struct mailbox {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int left, taken;
};

static void take_from(struct mailbox* box) {
  pthread_mutex_lock(&box->mutex);
  while (box->left >= 0) {
    const struct timespec soon = in_ms(CLOCK_REALTIME, 2);
    if (box->left == 0) pthread_cond_timedwait(&box->changed, &box->mutex, &soon);
    if (box->left > 0) {
      box->taken += box->left;
      box->left = 0;
    }
  }
  pthread_mutex_unlock(&box->mutex);
}

int taker(int file) {
  take_from(mmap(0, sizeof(struct mailbox), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  return 0;
}

/// Without the attribute a lock call may sleep for ever, with the C library, too.
static void lock_by_tries(pthread_mutex_t* mutex) {
  while (pthread_mutex_trylock(mutex) != 0) usleep(50);
}

static int condition(int letters, int mutex_is_shared, int runs_program) {
  int file;
  struct mailbox* const box = shared_memory(sizeof *box, &file);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if (mutex_is_shared) pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&box->mutex, &attributes);
  pthread_cond_init(&box->changed, 0);
  const pid_t child = fork();
  if (child == 0) {
    char name[16];
    snprintf(name, sizeof name, "%d", file);
    if (runs_program) execl("/proc/self/exe", "reported", "taker", name, (char*)0);
    _exit(runs_program ? 9 : taker(file));
  }
  for (int i = 0; i < letters; ++i) {
    lock_by_tries(&box->mutex);
    ++box->left;
    pthread_mutex_unlock(&box->mutex);
    pthread_cond_signal(&box->changed);
    usleep(1000);
  }
  for (int done = 0; !done; usleep(500)) {
    lock_by_tries(&box->mutex);
    done = box->taken == letters;
    if (done) box->left = -1;
    pthread_mutex_unlock(&box->mutex);
  }
  printf("%s\n", ended_well(child) ? "all taken" : "the other process failed");
  return 0;
}
int condition_alone(int letters) { return condition(letters, 1, 1); }
int condition_and_mutex(int letters) { return condition(letters, 0, 0); }

// ---- condition_of_two: threads of two processes wait on one at a time (OpenSIPS, 937). POSIX leaves it undefined.

struct meeting {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int waits, ends;
};

static void* wait_for_the_end(void* raw) {
  struct meeting* const here = raw;
  pthread_mutex_lock(&here->mutex);
  here->waits = 1;
  while (!here->ends) pthread_cond_wait(&here->changed, &here->mutex);
  pthread_mutex_unlock(&here->mutex);
  return 0;
}

/// Nobody else takes the mutex meanwhile: who sleeps for a mutex without the attribute may never be woken.
static int wait_beside(struct meeting* here) {
  int status = 0;
  lock_by_tries(&here->mutex);
  const struct timespec soon = in_ms(CLOCK_REALTIME, 20);
  while (status == 0) status = pthread_cond_timedwait(&here->changed, &here->mutex, &soon);
  pthread_mutex_unlock(&here->mutex);
  return status;
}

int condition_of_two(int times) {
  int file;
  struct meeting* const here = shared_memory(sizeof *here, &file);
  pthread_mutex_init(&here->mutex, 0);
  pthread_cond_init(&here->changed, 0);
  pthread_t thread;
  pthread_create(&thread, 0, wait_for_the_end, here);
  for (int waits = 0; !waits; usleep(100)) {
    lock_by_tries(&here->mutex);
    waits = here->waits;
    pthread_mutex_unlock(&here->mutex);
  }
  int good = 1;
  for (int i = 0; i < times; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(wait_beside(here) == ETIMEDOUT ? 0 : 1);
    good &= ended_well(child);
  }
  lock_by_tries(&here->mutex);
  here->ends = 1;
  pthread_cond_signal(&here->changed);
  pthread_mutex_unlock(&here->mutex);
  pthread_join(thread, 0);
  printf("%s\n", good ? "both waited" : "the other process failed");
  return 0;
}

// ---- shared_owner: processes share locks without the attribute (libfabric, 7274). POSIX leaves it undefined.

enum { mutexes = 3, writer = 3, spinner = 4, reader = 5, kinds = 6 };

struct counter {
  pthread_mutex_t mutexes[mutexes];
  pthread_rwlock_t rwlock;
  pthread_spinlock_t spin;
  int inside[reader];  // a reader counts as one, a writer as many
  long lost;
};

static int try_number(struct counter* all, int which) {
  switch (which) {
    case writer:
      return pthread_rwlock_trywrlock(&all->rwlock);
    case reader:
      return pthread_rwlock_tryrdlock(&all->rwlock);
    case spinner:
      return pthread_spin_lock(&all->spin);  // nobody sleeps
    default:
      return pthread_mutex_trylock(&all->mutexes[which]);
  }
}

static void unlock_number(struct counter* all, int which) {
  if (which < mutexes)
    pthread_mutex_unlock(&all->mutexes[which]);
  else if (which == spinner)
    pthread_spin_unlock(&all->spin);
  else
    pthread_rwlock_unlock(&all->rwlock);
}

static void* add(void* raw) {
  enum { many = 1000 };
  struct counter* const all = raw;
  for (int i = 0; i < 20000; ++i) {
    const int which = i % kinds, adds = which == reader ? 1 : many;
    int* const inside = &all->inside[which == reader ? writer : which];
    while (try_number(all, which) != 0) usleep(20);
    const int before = __atomic_fetch_add(inside, adds, __ATOMIC_SEQ_CST);
    if (which == reader ? before >= many : before != 0) __atomic_fetch_add(&all->lost, 1, __ATOMIC_SEQ_CST);
    spin_for(20);
    __atomic_fetch_sub(inside, adds, __ATOMIC_SEQ_CST);
    unlock_number(all, which);
  }
  return 0;
}

static struct counter* make_counter(int* file) {
  const int types[mutexes] = {PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_NORMAL};
  struct counter* const all = shared_memory(sizeof *all, file);
  for (int i = 0; i < mutexes; ++i) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, types[i]);
    pthread_mutex_init(&all->mutexes[i], &attributes);
  }
  pthread_rwlock_init(&all->rwlock, 0);
  pthread_spin_init(&all->spin, PTHREAD_PROCESS_PRIVATE);
  return all;
}

int shared_owner(int threads) {
  int file;
  struct counter* const all = make_counter(&file);
  pthread_mutex_lock(&one);  // so that the thread has taken a lock before the fork
  pthread_mutex_unlock(&one);
  const pid_t child = fork();
  pthread_t others[8];
  for (int i = 0; i < threads; ++i) pthread_create(&others[i], 0, add, all);
  add(all);
  for (int i = 0; i < threads; ++i) pthread_join(others[i], 0);
  if (child == 0) _exit(0);
  printf("%s, lost %ld\n", ended_well(child) ? "ended" : "failed", all->lost);
  return 0;
}

// ---- shared_by_programs: likewise, but the other process runs a program of its own, which made none of the locks

int sharer(int file) {
  add(mmap(0, sizeof(struct counter), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  return 0;
}

int shared_by_programs(int threads) {
  int file;
  struct counter* const all = make_counter(&file);
  const pid_t child = fork();
  if (child == 0) {
    char name[16];
    snprintf(name, sizeof name, "%d", file);
    execl("/proc/self/exe", "reported", "sharer", name, (char*)0);
    _exit(9);
  }
  pthread_t others[8];
  for (int i = 0; i < threads; ++i) pthread_create(&others[i], 0, add, all);
  add(all);
  for (int i = 0; i < threads; ++i) pthread_join(others[i], 0);
  printf("%s, lost %ld\n", ended_well(child) ? "ended" : "failed", all->lost);
  return 0;
}

// ---- owner: programs look who holds a mutex, where the C library has it (Prosper, 2401). What follows reads the
// inside of glibc's mutexes, which POSIX does not define: another C library, or another version, may have it elsewhere.

static const int mutex_types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                  PTHREAD_MUTEX_ADAPTIVE_NP};
enum { types_of_mutexes = 4 };

static void make_mutex(pthread_mutex_t* mutex, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutex_init(mutex, &attributes);
}

/// As assertions have it: who holds a mutex, and that it is held.
int owner(int times) {
  int wrong = 0;
  for (int k = 0; k < types_of_mutexes; ++k) {
    pthread_mutex_t mutex;
    make_mutex(&mutex, mutex_types[k]);
    for (int i = 0; i < times; ++i) {
      pthread_mutex_lock(&mutex);
      wrong += mutex.__data.__owner != (int)syscall(SYS_gettid);
      wrong += mutex.__data.__lock == 0;
      pthread_mutex_unlock(&mutex);
      wrong += mutex.__data.__owner != 0;
    }
  }
  printf("wrong %d\n", wrong);
  return 0;
}

/// Whether a free mutex has no lock word, and how often a recursive one is held.
int lock_words(int times) {
  int wrong = 0;
  pthread_mutex_t mutex;
  make_mutex(&mutex, PTHREAD_MUTEX_RECURSIVE);
  for (int i = 0; i < times; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
    (void)syscall(SYS_gettid);  // not in an attempt
    wrong += mutex.__data.__count != 2;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&mutex);
    wrong += mutex.__data.__lock != 0;
  }
  printf("%s\n", wrong == 0 ? "as the C library's" : "other words");
  return 0;
}

// ---- old_names: the names under which programs of before glibc 2.34 may be linked (rr, 2499). POSIX
// does not have them.

extern int old_lock(pthread_mutex_t*);
extern int old_unlock(pthread_mutex_t*);
extern int old_write(pthread_rwlock_t*);
extern int old_done(pthread_rwlock_t*);
#if defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#else
#define FIRST "GLIBC_2.17"
#endif
__asm__(".symver old_lock,__pthread_mutex_lock@" FIRST);
__asm__(".symver old_unlock,__pthread_mutex_unlock@" FIRST);
__asm__(".symver old_write,__pthread_rwlock_wrlock@" FIRST);
__asm__(".symver old_done,__pthread_rwlock_unlock@" FIRST);
static long by_mutex, by_rwlock;
static int turns_each;
static pthread_barrier_t all_are_there;  // a thread that is alone has all its turns before the next one comes

static void* count_by(void* is_old) {
  pthread_barrier_wait(&all_are_there);
  for (int i = 0; i < turns_each; ++i) {
    is_old ? old_lock(&one) : pthread_mutex_lock(&one);
    by_mutex = by_mutex + 1;
    is_old ? old_unlock(&one) : pthread_mutex_unlock(&one);
    is_old ? old_write(&table) : pthread_rwlock_wrlock(&table);
    by_rwlock = by_rwlock + 1;
    is_old ? old_done(&table) : pthread_rwlock_unlock(&table);
  }
  return 0;
}

int old_names(int turns) {
  pthread_t threads[4];
  turns_each = turns;
  pthread_barrier_init(&all_are_there, 0, 4);
  for (intptr_t i = 0; i < 4; ++i) pthread_create(&threads[i], 0, count_by, (void*)(i % 2));
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
  printf("lost %ld\n", 2L * 4 * turns - by_mutex - by_rwlock);
  return 0;
}

// ---- semaphore: a mutex that its owner waits for until another thread gives it up (Ettercap, 72)

static void* give_up(void* unused) {
  usleep(300);
  pthread_mutex_unlock(&one);
  return unused;
}

/// POSIX leaves it undefined for mutexes of the default type.
int semaphore(int times) {
  for (int i = 0; i < times; ++i) {
    pthread_t thread;
    pthread_mutex_lock(&one);
    pthread_create(&thread, 0, give_up, 0);
    pthread_mutex_lock(&one);
    pthread_mutex_unlock(&one);
    pthread_join(thread, 0);
  }
  printf("turns %d\n", times);
  return 0;
}

// ---- held_over_fork: a thread holds a mutex, and forks; the child gives it up. POSIX leaves it undefined.

int held_over_fork(int by_fork) {
  pthread_mutex_lock(&one);  // the thread's first
  const pid_t child = by_fork ? fork() : _Fork();
  int wrong = pthread_mutex_unlock(&one);
  wrong += pthread_mutex_lock(&one);
  wrong += pthread_mutex_unlock(&one);
  if (child == 0) _exit(wrong != 0);
  printf("%s\n", wrong == 0 && ended_well(child) ? "done" : "wrong");
  return 0;
}
