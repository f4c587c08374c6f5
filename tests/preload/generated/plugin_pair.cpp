// SPDX-License-Identifier: Apache-2.0
// A library with locks in static storage and on its heap, built twice. The two have other kinds of mutexes at the same
// places, so that what was known of one is wrong of the other.
#include "plugin_pair.hpp"

#include <sched.h>

namespace {

struct on_heap {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
  long counted = 0;
};

constexpr int types[] = {PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK};

pthread_mutex_t mutex =
    NUMBER == 1 ? pthread_mutex_t PTHREAD_MUTEX_INITIALIZER : pthread_mutex_t PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
on_heap* heap = nullptr;
long by_mutex = 0;
long by_rwlock = 0;

void add_one(long& to) {
  volatile long& counted = to;
  const long before = counted;
  if (before % 4 == NUMBER) sched_yield();
  counted = before + 1;
}

void count() {
  pthread_mutex_lock(&mutex);
  add_one(by_mutex);
  pthread_mutex_unlock(&mutex);
  pthread_rwlock_wrlock(&rwlock);
  add_one(by_rwlock);
  pthread_rwlock_unlock(&rwlock);
  pthread_rwlock_rdlock(&heap->rwlock);
  pthread_mutex_lock(&heap->mutex);
  add_one(heap->counted);
  pthread_mutex_unlock(&heap->mutex);
  pthread_rwlock_unlock(&heap->rwlock);
}

long counted() { return by_mutex == by_rwlock && by_mutex == heap->counted ? by_mutex : -1; }

[[gnu::constructor]] void begin() {
  heap = new on_heap;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, types[NUMBER]);
  pthread_mutex_init(&heap->mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  pthread_rwlock_init(&heap->rwlock, nullptr);
  count();
}

/// The second library leaves its locks as they are, as many do.
[[gnu::destructor]] void end() {
  count();
  if (NUMBER == 1) {
    pthread_mutex_destroy(&heap->mutex);
    pthread_rwlock_destroy(&heap->rwlock);
    pthread_mutex_destroy(&mutex);
    pthread_rwlock_destroy(&rwlock);
  }
  delete heap;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) generated::plugin_face plugin_of_a_pair() {
  return {
      NUMBER, NUMBER == 1 ? PTHREAD_MUTEX_NORMAL : PTHREAD_MUTEX_RECURSIVE, types[NUMBER], &mutex, &heap->mutex, count,
      counted};
}
