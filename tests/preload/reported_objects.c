// SPDX-License-Identifier: Apache-2.0
// Cases of reported.h: locks that are gone as soon as their last user has given them up. Their memory goes at once, so
// that who still reads it ends the program. POSIX allows it: a lock may be destroyed as soon as it is free.
#include "reported.h"

#include <sched.h>

static void* fresh_page(void) {
  void* const made = mmap(0, (size_t)getpagesize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) exit(3);
  return made;
}

static void give_page_back(void* page) { munmap(page, (size_t)getpagesize()); }

static void make_mutex(pthread_mutex_t* mutex, int turn) {
  static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, types[turn % 3]);
  pthread_mutex_init(mutex, &attributes);
}

// ---- event: who waits for it destroys it as soon as it is set (hpx, 1488)

struct event {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int is_set;
};

static struct event* offered;
static int rounds;

static void* set_events(void* unused) {
  for (int i = 0; i < rounds; ++i) {
    struct event* taken = 0;
    while ((taken = __atomic_exchange_n(&offered, 0, __ATOMIC_ACQ_REL)) == 0) sched_yield();
    pthread_mutex_lock(&taken->mutex);
    taken->is_set = 1;
    i % 2 ? pthread_cond_signal(&taken->changed) : pthread_cond_broadcast(&taken->changed);
    pthread_mutex_unlock(&taken->mutex);
  }
  return unused;
}

int event(int times) {
  pthread_t thread;
  int failed = 0;
  rounds = times;
  pthread_create(&thread, 0, set_events, 0);
  for (int i = 0; i < times; ++i) {
    struct event* const mine = fresh_page();
    make_mutex(&mine->mutex, i);
    pthread_cond_init(&mine->changed, 0);
    __atomic_store_n(&offered, mine, __ATOMIC_RELEASE);
    pthread_mutex_lock(&mine->mutex);
    while (!mine->is_set) pthread_cond_wait(&mine->changed, &mine->mutex);
    pthread_mutex_unlock(&mine->mutex);
    failed += pthread_cond_destroy(&mine->changed) != 0;
    failed += pthread_mutex_destroy(&mine->mutex) != 0;
    give_page_back(mine);
  }
  pthread_join(thread, 0);
  printf("failed %d\n", failed);
  return 0;
}

// ---- last_user: objects with a count of their users, which the last of them destroys

enum { users = 3, object_kinds = 3 };

struct counted {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
  pthread_spinlock_t spin;
  int kind, left;
};

static struct counted* current;
static pthread_barrier_t all_have_it;
static int not_destroyed;

static void lock_counted(struct counted* object) {
  if (object->kind == 0) pthread_mutex_lock(&object->mutex);
  if (object->kind == 1) pthread_rwlock_wrlock(&object->rwlock);
  if (object->kind == 2) pthread_spin_lock(&object->spin);
}

static void unlock_counted(struct counted* object, int kind) {
  if (kind == 0) pthread_mutex_unlock(&object->mutex);
  if (kind == 1) pthread_rwlock_unlock(&object->rwlock);
  if (kind == 2) pthread_spin_unlock(&object->spin);
}

static void let_go(struct counted* object) {
  const int kind = object->kind;  // not to be read once another user may have destroyed it
  lock_counted(object);
  const int is_last = --object->left == 0;
  unlock_counted(object, kind);
  if (!is_last) return;
  not_destroyed += (pthread_mutex_destroy(&object->mutex) | pthread_rwlock_destroy(&object->rwlock) |
                    pthread_spin_destroy(&object->spin)) != 0;
  give_page_back(object);
}

static void* use_objects(void* is_first) {
  for (int i = 0; i < rounds; ++i) {
    if (is_first) {
      current = fresh_page();
      make_mutex(&current->mutex, i / object_kinds);
      pthread_rwlock_init(&current->rwlock, 0);
      pthread_spin_init(&current->spin, PTHREAD_PROCESS_PRIVATE);
      current->kind = i % object_kinds;
      current->left = users;
    }
    pthread_barrier_wait(&all_have_it);
    struct counted* const mine = current;
    pthread_barrier_wait(&all_have_it);
    let_go(mine);
  }
  return 0;
}

int last_user(int times) {
  pthread_t threads[users];
  rounds = times;
  pthread_barrier_init(&all_have_it, 0, users);
  for (intptr_t i = 0; i < users; ++i) pthread_create(&threads[i], 0, use_objects, (void*)(i == 0 ? &current : 0));
  for (int i = 0; i < users; ++i) pthread_join(threads[i], 0);
  printf("failed %d\n", not_destroyed);
  return 0;
}
