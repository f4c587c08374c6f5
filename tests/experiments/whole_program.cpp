// SPDX-License-Identifier: Apache-2.0
// In the place of LevelDB and Kyoto Cabinet in the lab's test: it takes their drivers' arguments, and counts under a
// pthread reader-writer lock. It makes a hundredth of the operations.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
unsigned long counter = 0;

std::atomic<bool> all_are_there = false;

void add(unsigned long times) {
  for (unsigned long i = 0; i < times; ++i) {
    pthread_rwlock_wrlock(&lock);
    ++counter;
    pthread_rwlock_unlock(&lock);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 6 && count != 8) return 2;
  const bool is_leveldb =
      count == 8;  // STORE WORKLOAD THREADS OPERATIONS SEED RECORDS RESULT; operations of each thread
  const auto number = [&](int i) { return std::strtoul(words[i], nullptr, 10); };
  const unsigned long threads = number(is_leveldb ? 3 : 1);
  const unsigned long operations = number(is_leveldb ? 4 : 2) / 100 * (is_leveldb ? threads : 1);
  constexpr unsigned long before = 300;
  add(before);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> team;
  for (unsigned long i = 0; i < threads; ++i) {
    team.emplace_back([=] {
      while (!all_are_there.load()) std::this_thread::yield();
      add(operations * (i + 1) / threads - operations * i / threads);
    });
  }
  all_are_there.store(true);
  for (std::thread& one : team) one.join();
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  pthread_rwlock_wrlock(&lock);
  const unsigned long wrong = counter != before + operations ? 1 : 0;
  pthread_rwlock_unlock(&lock);
  std::FILE* const out = std::fopen(words[count - 1], "w");
  if (out == nullptr) return 1;
  std::fprintf(out, "operations %lu\nelapsed_ns %lld\nwrong %lu\n", operations, static_cast<long long>(took.count()),
               wrong);
  return std::fclose(out) == 0 && wrong == 0 ? 0 : 1;
}
