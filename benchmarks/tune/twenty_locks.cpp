// SPDX-License-Identifier: Apache-2.0
// twenty_locks SECTIONS: a plain pthread program with twenty mutexes of the C library, for `txsync tune`. Two threads
// want one of them, lock_13, for about 2 us at a time, with about 1 us in between. The C library's mutex makes the
// waiter sleep each time. In between they visit the other nineteen, which are hardly ever taken. Prints "seconds: N".
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

// Twenty objects and not an array: each is a site.
pthread_mutex_t lock_00 = PTHREAD_MUTEX_INITIALIZER, lock_01 = PTHREAD_MUTEX_INITIALIZER,
                lock_02 = PTHREAD_MUTEX_INITIALIZER, lock_03 = PTHREAD_MUTEX_INITIALIZER,
                lock_04 = PTHREAD_MUTEX_INITIALIZER, lock_05 = PTHREAD_MUTEX_INITIALIZER,
                lock_06 = PTHREAD_MUTEX_INITIALIZER, lock_07 = PTHREAD_MUTEX_INITIALIZER,
                lock_08 = PTHREAD_MUTEX_INITIALIZER, lock_09 = PTHREAD_MUTEX_INITIALIZER,
                lock_10 = PTHREAD_MUTEX_INITIALIZER, lock_11 = PTHREAD_MUTEX_INITIALIZER,
                lock_12 = PTHREAD_MUTEX_INITIALIZER, lock_13 = PTHREAD_MUTEX_INITIALIZER,
                lock_14 = PTHREAD_MUTEX_INITIALIZER, lock_15 = PTHREAD_MUTEX_INITIALIZER,
                lock_16 = PTHREAD_MUTEX_INITIALIZER, lock_17 = PTHREAD_MUTEX_INITIALIZER,
                lock_18 = PTHREAD_MUTEX_INITIALIZER, lock_19 = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t* const others[] = {&lock_00, &lock_01, &lock_02, &lock_03, &lock_04, &lock_05, &lock_06,
                                   &lock_07, &lock_08, &lock_09, &lock_10, &lock_11, &lock_12, &lock_14,
                                   &lock_15, &lock_16, &lock_17, &lock_18, &lock_19};
constexpr std::uint64_t innocents = sizeof others / sizeof others[0];

std::uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void spin_for(std::uint64_t ns) {
  const std::uint64_t end = now_ns() + ns;
  while (now_ns() < end) continue;
}

struct worker {
  pthread_t thread{};
  std::uint64_t sections = 0;
  std::uint64_t random = 0;
};

std::uint64_t next_random(std::uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

void* work(void* raw) {
  worker& me = *static_cast<worker*>(raw);
  for (std::uint64_t i = 0; i < me.sections; ++i) {
    pthread_mutex_lock(&lock_13);
    spin_for(1'500 + next_random(me.random) % 1'000);
    pthread_mutex_unlock(&lock_13);
    pthread_mutex_t* const other = others[next_random(me.random) % innocents];
    pthread_mutex_lock(other);
    spin_for(100);
    pthread_mutex_unlock(other);
    spin_for(400 + next_random(me.random) % 1'000);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t sections = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300'000;
  worker workers[2];
  std::uint64_t seed = 88172645463325252;
  const std::uint64_t start = now_ns();
  for (worker& one : workers) {
    one.sections = sections / 2;
    one.random = seed++;
    if (pthread_create(&one.thread, nullptr, work, &one) != 0) return 1;
  }
  for (worker& one : workers) pthread_join(one.thread, nullptr);
  std::printf("seconds: %.4f\n", static_cast<double>(now_ns() - start) / 1e9);
}
