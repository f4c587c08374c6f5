// SPDX-License-Identifier: Apache-2.0
// starving_program time|asks: one thread works under a lock in a loop, 100 us at a time, and takes it again at once.
// Another thread asks for it every 200 us. "time": both do so for a while. "asks": until the second has had it 200
// times, or that while is over. For txsync tune: policies differ in whether the second thread gets the lock.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace {

using clock_type = std::chrono::steady_clock;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
std::atomic<bool> over{false};
long sections = 0;
long turns = 0;

void* work(void*) {
  while (!over) {
    pthread_mutex_lock(&mutex);
    const auto end = clock_type::now() + std::chrono::microseconds(100);
    while (clock_type::now() < end) {
    }
    ++sections;
    pthread_mutex_unlock(&mutex);
  }
  return nullptr;
}

void* ask(void* most) {
  while (!over && turns < *static_cast<long*>(most)) {
    usleep(200);
    pthread_mutex_lock(&mutex);
    ++turns;
    pthread_mutex_unlock(&mutex);
  }
  over = true;
  return nullptr;
}

}  // namespace

int main(int count, char** words) {
  long most = count > 1 && std::strcmp(words[1], "asks") == 0 ? 200 : 1'000'000;
  pthread_t worker;
  pthread_t asker;
  pthread_create(&worker, nullptr, work, nullptr);
  pthread_create(&asker, nullptr, ask, &most);
  for (int tenth = 0; tenth < 4 && !over; ++tenth) usleep(100'000);
  over = true;
  pthread_join(worker, nullptr);
  pthread_join(asker, nullptr);
  std::printf("sections: %ld, turns of the other: %ld\n", sections, turns);
}
