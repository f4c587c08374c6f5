// SPDX-License-Identifier: Apache-2.0
// waiting_program MICROSECONDS: two threads hold one lock for that long in each of ten turns, so that the other one
// waits. For tests of txsync report with runs of an unmodified program.
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>

pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;

namespace {

constexpr int turns = 10;

void* work(void* microseconds) {
  for (int i = 0; i < turns; ++i) {
    pthread_mutex_lock(&queue_lock);
    usleep(*static_cast<const useconds_t*>(microseconds));
    pthread_mutex_unlock(&queue_lock);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  useconds_t microseconds = argc > 1 ? static_cast<useconds_t>(std::atoi(argv[1])) : 1000;
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, work, &microseconds);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}
