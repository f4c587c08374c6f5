// SPDX-License-Identifier: Apache-2.0
// Cases of reported.h: the calls that lead to locks: coroutines, plug-ins, small stacks.
#include "reported.h"

#include <dlfcn.h>
#include <limits.h>

// ---- coroutine: the lowest frame of a stack returns to an address at which there is nothing (Tarantool, 6889).
// POSIX does not have such stacks.

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
int coroutine(int size) {
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
int coroutine(int size) {
  (void)size;
  printf("done\n");
  return 0;
}
#endif

// ---- lookups: whether the library asks for a program's code and files at all (Tarantool, 6889)

static int lookups_seen;

#if __GLIBC_PREREQ(2, 35)
static int (*next_find)(void*, struct dl_find_object*);
__attribute__((constructor)) static void find_next(void) { *(void**)&next_find = dlsym(RTLD_NEXT, "_dl_find_object"); }

/// Stands before the linker's, which is asked for the code of each frame and for the file of each static object.
int _dl_find_object(void* address, struct dl_find_object* found) {
  __atomic_fetch_add(&lookups_seen, 1, __ATOMIC_RELAXED);
  if (next_find == 0) find_next();  // by a constructor of another file
  return next_find(address, found);
}
#endif

/// Locks of all types, in static storage, on the heap and on the stack.
int lookups(int times) {
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

// ---- small_stack: what is left of the smallest stack that POSIX allows (OpenBLAS, 1936). It promises nothing of that.

static int to_use;

static __attribute__((noinline)) void* use_stack(void* raw) {
  volatile char* const mine = __builtin_alloca((size_t)to_use);
  for (int i = 0; i < to_use; ++i) mine[i] = 1;
  pthread_mutex_t* const fresh = raw;
  pthread_mutex_lock(fresh);
  pthread_mutex_unlock(fresh);
  return 0;
}

int small_stack(int bytes) {
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

int reloaded(char** libraries) {
  uintptr_t at = 0;
  int elsewhere = 0;
  for (; *libraries != 0; ++libraries) {
    void* const library = dlopen(*libraries, RTLD_NOW | RTLD_LOCAL);
    if (library == 0) return 3;
    void* const use = dlsym(library, "use");
    elsewhere += at != 0 && at != (uintptr_t)use;
    at = (uintptr_t)use;
    ((void (*)(void))use)();
    dlclose(library);
  }
  printf("%s\n", elsewhere ? "elsewhere" : "at one address");
  return 0;
}
