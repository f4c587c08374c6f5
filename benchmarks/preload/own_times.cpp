// SPDX-License-Identifier: Apache-2.0
// own_times SECTIONS: a plain pthread program that measures its own waits and holds, for comparison with what
// `txsync run` says of it. Two threads share one mutex; a section lasts about 2 us, what lies between about 1 us.
// Prints one line of JSON: acquisitions, contended, wait_ns (of the contended ones), hold_ns.
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

pthread_mutex_t shared_mutex = PTHREAD_MUTEX_INITIALIZER;

struct times {
  std::uint64_t acquisitions = 0;
  std::uint64_t contended = 0;
  std::uint64_t wait_ns = 0;
  std::uint64_t hold_ns = 0;
};

struct worker {
  pthread_t thread{};
  std::uint64_t sections = 0;
  std::uint64_t random = 0;
  times own;
};

std::uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t spin_until(std::uint64_t end) {
  std::uint64_t now = now_ns();
  while (now < end) now = now_ns();
  return now;
}

std::uint64_t next_random(std::uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/// Answers when the mutex was got.
std::uint64_t lock_and_measure(times& own) {
  ++own.acquisitions;
  if (pthread_mutex_trylock(&shared_mutex) == 0) return now_ns();
  const std::uint64_t start = now_ns();
  pthread_mutex_lock(&shared_mutex);
  const std::uint64_t got = now_ns();
  ++own.contended;
  own.wait_ns += got - start;
  return got;
}

void* work(void* raw) {
  worker& me = *static_cast<worker*>(raw);
  for (std::uint64_t i = 0; i < me.sections; ++i) {
    const std::uint64_t got = lock_and_measure(me.own);
    const std::uint64_t end = spin_until(got + 1'500 + next_random(me.random) % 1'000);
    pthread_mutex_unlock(&shared_mutex);
    me.own.hold_ns += end - got;
    spin_until(end + 500 + next_random(me.random) % 1'000);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  worker workers[2];
  const std::uint64_t sections = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  std::uint64_t seed = 88172645463325252;
  for (worker& one : workers) {
    one.sections = sections / 2;
    one.random = next_random(seed);
    if (pthread_create(&one.thread, nullptr, work, &one) != 0) return 1;
  }
  times all;
  for (worker& one : workers) {
    pthread_join(one.thread, nullptr);
    all.acquisitions += one.own.acquisitions;
    all.contended += one.own.contended;
    all.wait_ns += one.own.wait_ns;
    all.hold_ns += one.own.hold_ns;
  }
  std::printf("{\"acquisitions\": %llu, \"contended\": %llu, \"wait_ns\": %llu, \"hold_ns\": %llu}\n",
              static_cast<unsigned long long>(all.acquisitions), static_cast<unsigned long long>(all.contended),
              static_cast<unsigned long long>(all.wait_ns), static_cast<unsigned long long>(all.hold_ns));
  return 0;
}
