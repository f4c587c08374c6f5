// SPDX-License-Identifier: Apache-2.0
// A library that locks in its constructor, in its function, and when it is closed.
#include <pthread.h>

namespace {
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
long calls = 0;

long once_more() {
  pthread_mutex_lock(&mutex);
  pthread_rwlock_wrlock(&rwlock);
  const long number = ++calls;
  pthread_rwlock_unlock(&rwlock);
  pthread_mutex_unlock(&mutex);
  return number;
}

[[gnu::constructor]] void begin() { once_more(); }
[[gnu::destructor]] void end() { once_more(); }
}  // namespace

extern "C" __attribute__((visibility("default"))) long plugin_call() { return once_more(); }
