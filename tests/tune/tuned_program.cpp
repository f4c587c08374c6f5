// SPDX-License-Identifier: Apache-2.0
// tuned_program [fail-under-preload|hang-under-preload|fail|silent|realtime|readers]: threads that share two locks, for
// tests of txsync tune. Prints "sections: N" and exits with 0; the word makes it go wrong. With "realtime" a thread of
// SCHED_FIFO waits for a lock; status 77 where it may not. With "readers" the waiting is at the reader-writer lock.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int threads = 3;
constexpr long sections = 4000;

pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
long done = 0;

void* work(void*) {
  for (long i = 0; i < sections; ++i) {
    pthread_mutex_lock(&hot);
    ++done;
    pthread_mutex_unlock(&hot);
    if (i % 16 != 0) continue;
    pthread_rwlock_rdlock(&table);
    pthread_rwlock_unlock(&table);
  }
  return nullptr;
}

void* read_once(void*) {
  pthread_rwlock_rdlock(&table);
  pthread_rwlock_unlock(&table);
  return nullptr;
}

/// A reader waits 10 ms for the writer.
int wait_as_reader() {
  pthread_t reader{};
  pthread_rwlock_wrlock(&table);
  const int status = pthread_create(&reader, nullptr, read_once, nullptr);
  usleep(10'000);
  pthread_rwlock_unlock(&table);
  if (status != 0) return 1;
  pthread_join(reader, nullptr);
  return 0;
}

void* take_once(void*) {
  pthread_mutex_lock(&hot);
  pthread_mutex_unlock(&hot);
  return nullptr;
}

/// A thread with a real-time priority waits for 20 ms.
int wait_with_priority() {
  pthread_attr_t attributes;
  sched_param priority{};
  priority.sched_priority = 5;
  pthread_attr_init(&attributes);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
  pthread_attr_setschedparam(&attributes, &priority);
  pthread_t waiter{};
  pthread_mutex_lock(&hot);
  const int status = pthread_create(&waiter, &attributes, take_once, nullptr);
  usleep(20'000);
  pthread_mutex_unlock(&hot);
  if (status != 0) return 77;
  pthread_join(waiter, nullptr);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* word = argc > 1 ? argv[1] : "";
  const bool preloaded = std::getenv("LD_PRELOAD") != nullptr;
  if (std::strcmp(word, "fail") == 0 || (preloaded && std::strcmp(word, "fail-under-preload") == 0)) {
    std::fprintf(stderr, "cannot open the table\n");
    return 3;
  }
  if (preloaded && std::strcmp(word, "hang-under-preload") == 0) pause();
  if (std::strcmp(word, "realtime") == 0) return wait_with_priority();
  if (std::strcmp(word, "readers") == 0) return wait_as_reader();
  pthread_t workers[threads];
  for (pthread_t& one : workers) pthread_create(&one, nullptr, work, nullptr);
  for (pthread_t& one : workers) pthread_join(one, nullptr);
  std::printf("starting\n");
  if (std::strcmp(word, "silent") != 0) std::printf("sections: %ld\n", done);
  return done == threads * sections ? 0 : 1;
}
