// SPDX-License-Identifier: Apache-2.0
// What public bug reports say of libraries like this one, as small programs; reported_test.py runs them with and
// without it. The first argument names the case, the second is its size. Each prints one line. "POSIX leaves it
// undefined" marks what works with the C library all the same.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;

static struct timespec in_ms(clockid_t clock, long ms) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += ms % 1000 * 1000000;
  time.tv_sec += ms / 1000 + time.tv_nsec / 1000000000;
  time.tv_nsec %= 1000000000;
  return time;
}

static void spend(int turns) {
  for (volatile int i = 0; i < turns; ++i) continue;
}

/// Shared with the children of forks, and with programs that these run.
static void* shared_memory(size_t bytes, int* file) {
  *file = memfd_create("reported", 0);
  if (*file < 0 || ftruncate(*file, (off_t)bytes) != 0) exit(3);
  return mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
}

static int ended_well(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// ---- coroutine: the lowest frame of a stack returns to an address at which there is nothing (Tarantool, 6889)

#if defined(__x86_64__)
void switch_stack(void** save, void* to);
__asm__(
    ".text\n.type switch_stack,@function\nswitch_stack:\n"
    " push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n.size switch_stack,.-switch_stack\n");
static void *main_stack, *coroutine_stack;
static pthread_mutex_t* own;
static int waits_once;

static void* contend(void* unused) {
  for (int i = waits_once ? 49 : 0; i < 50; ++i) {
    pthread_mutex_lock(own);
    usleep(200);
    pthread_mutex_unlock(own);
  }
  return unused;
}

static pthread_barrier_t is_held;

static void* hold_until_told(void* unused) {
  pthread_mutex_lock(own);
  pthread_barrier_wait(&is_held);
  printf("ready\n");
  fflush(stdout);
  (void)getchar();
  pthread_mutex_unlock(own);
  return unused;
}

static __attribute__((noinline)) void run_coroutine(void) {
  pthread_t thread;
  own = malloc(sizeof *own);
  pthread_mutex_init(own, 0);
  pthread_barrier_init(&is_held, 0, 2);
  pthread_create(&thread, 0, waits_once ? hold_until_told : contend, 0);
  if (waits_once) pthread_barrier_wait(&is_held);
  contend(0);
  pthread_join(thread, 0);
  pthread_mutex_destroy(own);
  free(own);
  switch_stack(&coroutine_stack, main_stack);
}

/// Size 0: it waits once, until the standard input ends.
static int coroutine(int size) {
  const size_t bytes = 256 * 1024;
  waits_once = size == 0;
  char* const stack = aligned_alloc(4096, bytes);
  uintptr_t* const lowest = (uintptr_t*)(stack + bytes - 64 + 8);  // aligned as at a call
  lowest[0] = 0xFEEDFACECAFE;
  memset(lowest - 7, 0, 6 * sizeof *lowest);
  lowest[-1] = (uintptr_t)run_coroutine;
  switch_stack(&main_stack, lowest - 7);
  printf("done\n");
  return 0;
}
#else
static int coroutine(int unused) {
  printf("done\n");
  return unused * 0;
}
#endif

// ---- lookups: whether the library asks for a program's code and files at all (Tarantool, 6889)

static int lookups_seen;

#if __GLIBC_PREREQ(2, 35)
/// Stands before the linker's, which is asked for the code of each frame and for the file of each static object.
int _dl_find_object(void* address, struct dl_find_object* found) {
  static int (*next)(void*, struct dl_find_object*);
  __atomic_fetch_add(&lookups_seen, 1, __ATOMIC_RELAXED);
  if (next == 0) *(void**)&next = dlsym(RTLD_NEXT, "_dl_find_object");
  return next(address, found);
}
#endif

/// Locks of all types, in static storage, on the heap and on the stack.
static int lookups(int times) {
  static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_barrier_t barrier;
  const int before = lookups_seen;
  for (int i = 0; i < times; ++i) {
    pthread_mutex_t* const mutex = malloc(sizeof *mutex);
    pthread_spinlock_t spin;
    pthread_mutex_init(mutex, 0);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_barrier_init(&barrier, 0, 1);
    pthread_mutex_lock(mutex), pthread_mutex_lock(&one), pthread_rwlock_rdlock(&rwlock), pthread_spin_lock(&spin);
    pthread_barrier_wait(&barrier);
    pthread_mutex_unlock(mutex), pthread_mutex_unlock(&one), pthread_rwlock_unlock(&rwlock), pthread_spin_unlock(&spin);
    pthread_mutex_destroy(mutex);
    free(mutex);
  }
  printf("%s\n", lookups_seen == before ? "none" : "some");
  return 0;
}

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

static int taker(int file) {
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
static int condition_alone(int letters) { return condition(letters, 1, 1); }
static int condition_and_mutex(int letters) { return condition(letters, 0, 0); }

// ---- shared_owner: processes share locks without the attribute (libfabric, 7274). POSIX leaves it undefined.

struct counter {
  pthread_mutex_t mutexes[3];
  pthread_rwlock_t rwlock;
  int inside[4];
  long lost;
};

static int try_number(struct counter* all, int which) {
  return which < 3 ? pthread_mutex_trylock(&all->mutexes[which]) : pthread_rwlock_trywrlock(&all->rwlock);
}
static void unlock_number(struct counter* all, int which) {
  if (which < 3)
    pthread_mutex_unlock(&all->mutexes[which]);
  else
    pthread_rwlock_unlock(&all->rwlock);
}

static void* add(void* raw) {
  struct counter* const all = raw;
  for (int i = 0; i < 20000; ++i) {
    const int which = i % 4;
    while (try_number(all, which) != 0) usleep(20);
    if (__atomic_fetch_add(&all->inside[which], 1, __ATOMIC_SEQ_CST) != 0)
      __atomic_fetch_add(&all->lost, 1, __ATOMIC_SEQ_CST);
    spend(20);
    __atomic_fetch_sub(&all->inside[which], 1, __ATOMIC_SEQ_CST);
    unlock_number(all, which);
  }
  return 0;
}

static int shared_owner(int threads) {
  const int kinds[] = {PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_NORMAL};
  int file;
  struct counter* const all = shared_memory(sizeof *all, &file);
  for (int i = 0; i < 3; ++i) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kinds[i]);
    pthread_mutex_init(&all->mutexes[i], &attributes);
  }
  pthread_rwlock_init(&all->rwlock, 0);
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

// ---- owner: programs look who holds a mutex, where the C library has it (Prosper, 2401)

static int owner(int times) {
  const int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                       PTHREAD_MUTEX_ADAPTIVE_NP};
  int wrong = 0;
  for (int k = 0; k < 4; ++k) {
    pthread_mutex_t mutex;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kinds[k]);
    pthread_mutex_init(&mutex, &attributes);
    for (int i = 0; i < times; ++i) {
      pthread_mutex_lock(&mutex);
      wrong += mutex.__data.__owner != (int)syscall(SYS_gettid);
      pthread_mutex_unlock(&mutex);
      wrong += mutex.__data.__owner != 0;
    }
  }
  printf("wrong %d\n", wrong);
  return 0;
}

// ---- watchdog: a wait with a deadline for a lock that is nearly always free (OSv, 1426)

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t standard;

static void* work(void* which) {
  while (!stop) {
    switch ((intptr_t)which) {
      case 0:
        pthread_mutex_lock(&one);
        spend(2000);
        pthread_mutex_unlock(&one);
        break;
      case 1:
        pthread_rwlock_wrlock(&table);
        spend(2000);
        pthread_rwlock_unlock(&table);
        break;
      default:
        mtx_lock(&standard);
        spend(2000);
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

static int watchdog(int ms) {
  static const int locks[ways] = {0, 0, 1, 1, 1, 1, 2};
  char failed[64] = "";
  mtx_init(&standard, mtx_timed);
  for (int way = 0; way < ways; ++way) {
    pthread_t threads[3];
    stop = 0;
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, work, (void*)(intptr_t)locks[way]);
    for (int i = 0; i < 3; ++i) {
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
      spend(300);
    pthread_mutex_unlock(&one);
  }
  return 0;
}

static int deadlines(int threads) {
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
  spend(100);
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

static int many_deadlines(int threads) {
  if (threads > 512) return 3;
  round_of_waits(threads, 30, 0);
  printf("late: granted %d, missing %d", granted, threads - refused);
  round_of_waits(threads, 60000, 1);
  printf("; in time: refused %d, missing %d", refused, threads - granted);
  printf("; intruders %d, free: %d\n", intruders, pthread_mutex_trylock(&one) == 0);
  return 0;
}

// ---- old_names: the names under which programs of before glibc 2.34 may be linked (rr, 2499)

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

static int old_names(int turns) {
  pthread_t threads[4];
  turns_each = turns;
  pthread_barrier_init(&all_are_there, 0, 4);
  for (intptr_t i = 0; i < 4; ++i) pthread_create(&threads[i], 0, count_by, (void*)(i % 2));
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
  printf("lost %ld\n", 2L * 4 * turns - by_mutex - by_rwlock);
  return 0;
}

// ---- small_stack: what is left of the smallest stack that POSIX allows (OpenBLAS, 1936)

static int to_use;

static __attribute__((noinline)) void* use_stack(void* raw) {
  volatile char* const mine = __builtin_alloca((size_t)to_use);
  for (int i = 0; i < to_use; ++i) mine[i] = 1;
  pthread_mutex_t* const fresh = raw;
  pthread_mutex_lock(fresh);
  pthread_mutex_unlock(fresh);
  return 0;
}

static int small_stack(int bytes) {
  pthread_attr_t attributes;
  to_use = bytes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    // The thread is the first to ask whose it is, by the calls that lead to its lock.
    static const pthread_mutex_t initial = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t* const fresh = malloc(sizeof *fresh);
    *fresh = initial;
    if (pthread_create(&thread, &attributes, use_stack, fresh) != 0) return 3;
    pthread_join(thread, 0);
  }
  printf("ran\n");
  return 0;
}

// ---- reloaded: a library takes the place of another one in memory (async-profiler, 1245)

static int reloaded(int unused, char** libraries) {
  for (; *libraries != 0; ++libraries) {
    void* const library = dlopen(*libraries, RTLD_NOW | RTLD_LOCAL);
    if (library == 0) return 3;
    ((void (*)(void))dlsym(library, "use"))();
    dlclose(library);
  }
  printf("done\n");
  return unused * 0;
}

// ---- semaphore: a mutex that its owner waits for until another thread gives it up (Ettercap, 72)

static void* give_up(void* unused) {
  usleep(300);
  pthread_mutex_unlock(&one);
  return unused;
}

/// POSIX leaves it undefined for mutexes of the default type.
static int semaphore(int times) {
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

int main(int count, char** arguments) {
  static const struct {
    const char* name;
    int (*run)(int);
  } cases[] = {{"coroutine", coroutine},
               {"lookups", lookups},
               {"condition_alone", condition_alone},
               {"condition_and_mutex", condition_and_mutex},
               {"taker", taker},
               {"shared_owner", shared_owner},
               {"owner", owner},
               {"watchdog", watchdog},
               {"deadlines", deadlines},
               {"many_deadlines", many_deadlines},
               {"old_names", old_names},
               {"small_stack", small_stack},
               {"semaphore", semaphore}};
  if (count < 3) return 2;
  if (strcmp(arguments[1], "reloaded") == 0) return reloaded(0, arguments + 2);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(cases[i].name, arguments[1]) == 0) return cases[i].run(atoi(arguments[2]));
  return 2;
}
