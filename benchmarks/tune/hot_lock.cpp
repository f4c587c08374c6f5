// SPDX-License-Identifier: Apache-2.0
// The program that bench_tune tunes: hot_lock THREADS MILLISECONDS. Its threads all want one mutex, between visits to
// twenty others that are nobody else's at the time. It knows only pthread. Prints "sections/s: N" of the hot mutex.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

constexpr int innocents = 20;
constexpr int max_threads = 64;
constexpr int writes = 10;

pthread_mutex_t hot;
pthread_mutex_t innocent[innocents];
long counters[innocents];
long shared_numbers[64];
std::atomic<bool> over{false};

// Not inlined, and with something to do after the call, so that each function is the site of its locks. A call in tail
// position is a jump, and the site would be the caller's.
[[gnu::noinline]] void make_hot_lock() {
  if (pthread_mutex_init(&hot, nullptr) != 0) std::abort();
}
[[gnu::noinline]] void make_innocent_locks() {
  for (pthread_mutex_t& one : innocent)
    if (pthread_mutex_init(&one, nullptr) != 0) std::abort();
}

struct worker {
  pthread_t thread{};
  int number = 0;
  long sections = 0;
};

void* work(void* raw) {
  worker& me = *static_cast<worker*>(raw);
  unsigned random = static_cast<unsigned>(me.number) * 2654435761U + 1;
  // relaxed: the flag orders nothing
  while (!over.load(std::memory_order_relaxed)) {
    pthread_mutex_lock(&hot);
    for (int i = 0; i < writes; ++i) {
      random = random * 1664525U + 1013904223U;
      ++shared_numbers[random >> 26];
    }
    pthread_mutex_unlock(&hot);
    ++me.sections;
    const int mine =
        static_cast<int>((static_cast<unsigned>(me.number) + static_cast<unsigned>(me.sections)) % innocents);
    pthread_mutex_lock(&innocent[mine]);
    ++counters[mine];
    pthread_mutex_unlock(&innocent[mine]);
  }
  return nullptr;
}

}  // namespace

int main(int count, char** words) {
  const int threads = count > 1 ? std::atoi(words[1]) : 8;
  const long milliseconds = count > 2 ? std::atol(words[2]) : 150;
  if (threads < 1 || threads > max_threads || milliseconds < 1) {
    std::fprintf(stderr, "hot_lock THREADS MILLISECONDS; allowed: 1..%d threads\n", max_threads);
    return 2;
  }
  make_hot_lock();
  make_innocent_locks();
  static worker workers[max_threads];
  timespec start{};
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < threads; ++i) {
    workers[i].number = i;
    if (pthread_create(&workers[i].thread, nullptr, work, &workers[i]) != 0) return 1;
  }
  const timespec nap{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  nanosleep(&nap, nullptr);
  over.store(true, std::memory_order_relaxed);
  long sections = 0;
  long written = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(workers[i].thread, nullptr);
    sections += workers[i].sections;
  }
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  for (const long one : shared_numbers) written += one;
  if (written != sections * writes) {
    std::fprintf(stderr, "hot_lock: %ld writes of %ld are there\n", written, sections * writes);
    return 1;
  }
  const double seconds =
      static_cast<double>(end.tv_sec - start.tv_sec) + static_cast<double>(end.tv_nsec - start.tv_nsec) / 1e9;
  std::printf("sections/s: %.0f\n", static_cast<double>(sections) / seconds);
  return 0;
}
