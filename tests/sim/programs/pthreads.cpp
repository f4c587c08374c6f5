// SPDX-License-Identifier: Apache-2.0
// What POSIX says of its locks, in a simulated program. It tests every kind of lock, what each function returns, and
// that nothing is lost among four threads. Prints "all right" or what was not.
#include <pthread.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;
constexpr int rounds = 200;

#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) {                                       \
      std::printf("line %d: not " #condition "\n", __LINE__); \
      std::exit(1);                                           \
    }                                                         \
  } while (false)

template <class Body>
void in_threads(Body body) {
  std::vector<std::thread> team;
  for (int i = 0; i < threads; ++i) team.emplace_back([&body, i] { body(i); });
  for (std::thread& one : team) one.join();
}

timespec in_ms(clockid_t clock, long ms) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_nsec += ms * 1'000'000;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}
long ms_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

struct made_mutex {
  explicit made_mutex(int kind) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    CHECK(pthread_mutexattr_settype(&attributes, kind) == 0);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
  }
  ~made_mutex() { CHECK(pthread_mutex_destroy(&mutex) == 0); }
  pthread_mutex_t mutex;
};

void mutexes_of_all_kinds() {
  for (const int kind : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE}) {
    made_mutex made(kind);
    pthread_mutex_t* mutex = &made.mutex;
    long sum = 0;
    in_threads([&](int) {
      for (int i = 0; i < rounds; ++i) {
        CHECK(pthread_mutex_lock(mutex) == 0);
        if (kind == PTHREAD_MUTEX_ERRORCHECK) CHECK(pthread_mutex_lock(mutex) == EDEADLK);
        if (kind == PTHREAD_MUTEX_RECURSIVE) CHECK(pthread_mutex_lock(mutex) == 0);
        ++sum;
        if (kind == PTHREAD_MUTEX_RECURSIVE) CHECK(pthread_mutex_unlock(mutex) == 0);
        CHECK(pthread_mutex_unlock(mutex) == 0);
      }
    });
    CHECK(sum == threads * rounds);
    CHECK(pthread_mutex_lock(mutex) == 0);
    CHECK(pthread_mutex_trylock(mutex) == (kind == PTHREAD_MUTEX_RECURSIVE ? 0 : EBUSY));
    if (kind == PTHREAD_MUTEX_RECURSIVE) CHECK(pthread_mutex_unlock(mutex) == 0);
    std::thread([&] {
      CHECK(pthread_mutex_trylock(mutex) == EBUSY);
      if (kind == PTHREAD_MUTEX_ERRORCHECK) CHECK(pthread_mutex_unlock(mutex) == EPERM);
      const long before = ms_of(CLOCK_MONOTONIC);
      timespec until = in_ms(CLOCK_REALTIME, 20);
      CHECK(pthread_mutex_timedlock(mutex, &until) == ETIMEDOUT);
      until = in_ms(CLOCK_MONOTONIC, 20);
      CHECK(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
      const long waited = ms_of(CLOCK_MONOTONIC) - before;
      CHECK(waited >= 39 && waited < 60);
    }).join();
    CHECK(pthread_mutex_unlock(mutex) == 0);
    const timespec until = in_ms(CLOCK_REALTIME, 1000);
    CHECK(pthread_mutex_timedlock(mutex, &until) == 0);
    CHECK(pthread_mutex_unlock(mutex) == 0);
  }
}

void sections_within_sections() {
  pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t free_one = PTHREAD_MUTEX_INITIALIZER;
  long in_both = 0;
  long in_inner = 0;
  in_threads([&](int me) {
    for (int i = 0; i < rounds; ++i) {
      if (me % 2 == 0) {
        pthread_mutex_lock(&outer);
        pthread_mutex_lock(&inner);
        ++in_both;
        pthread_mutex_unlock(&outer);  // crossed
        ++in_inner;
        pthread_mutex_unlock(&inner);
      } else {
        pthread_mutex_lock(&inner);
        CHECK(pthread_mutex_trylock(&inner) == EBUSY);
        ++in_inner;
        pthread_mutex_unlock(&inner);
        if (pthread_mutex_trylock(&free_one) == 0) pthread_mutex_unlock(&free_one);
      }
    }
  });
  CHECK(in_both == threads / 2 * rounds);
  CHECK(in_inner == threads * rounds);
}

void conditions() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
  pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
  int full = 0;
  long sent = 0;
  long received = 0;
  in_threads([&](int me) {
    for (int i = 1; i <= rounds; ++i) {
      pthread_mutex_lock(&mutex);
      if (me % 2 == 0) {
        while (full == 3) pthread_cond_wait(&emptied, &mutex);
        ++full;
        sent += i;
        pthread_cond_signal(&filled);
      } else {
        while (full == 0) pthread_cond_wait(&filled, &mutex);
        --full;
        received += i;
        pthread_cond_signal(&emptied);
      }
      pthread_mutex_unlock(&mutex);
    }
  });
  CHECK(full == 0 && sent == received && sent == threads / 2 * rounds * (rounds + 1) / 2);

  bool go = false;
  int through = 0;
  in_threads([&](int me) {
    pthread_mutex_lock(&mutex);
    if (me == 0) {
      go = true;
      pthread_cond_broadcast(&filled);
    }
    while (!go) pthread_cond_wait(&filled, &mutex);
    ++through;
    pthread_mutex_unlock(&mutex);
  });
  CHECK(through == threads);
}

void conditions_with_time() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t by_date = PTHREAD_COND_INITIALIZER;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_t by_clock;
  CHECK(pthread_cond_init(&by_clock, &attributes) == 0);
  const long before = ms_of(CLOCK_MONOTONIC);
  pthread_mutex_lock(&mutex);
  timespec until = in_ms(CLOCK_REALTIME, 30);
  CHECK(pthread_cond_timedwait(&by_date, &mutex, &until) == ETIMEDOUT);
  until = in_ms(CLOCK_MONOTONIC, 30);
  CHECK(pthread_cond_timedwait(&by_clock, &mutex, &until) == ETIMEDOUT);
  until = in_ms(CLOCK_REALTIME, 30);
  CHECK(pthread_cond_clockwait(&by_clock, &mutex, CLOCK_REALTIME, &until) == ETIMEDOUT);
  until.tv_nsec = -1;
  CHECK(pthread_cond_timedwait(&by_date, &mutex, &until) == EINVAL);
  pthread_mutex_unlock(&mutex);
  const long waited = ms_of(CLOCK_MONOTONIC) - before;
  CHECK(waited >= 89 && waited < 110);

  bool told = false;
  std::thread teller([&] {
    pthread_mutex_lock(&mutex);
    told = true;
    pthread_cond_signal(&by_date);
    pthread_mutex_unlock(&mutex);
  });
  pthread_mutex_lock(&mutex);
  until = in_ms(CLOCK_REALTIME, 5000);
  while (!told) CHECK(pthread_cond_timedwait(&by_date, &mutex, &until) == 0);
  pthread_mutex_unlock(&mutex);
  teller.join();
  CHECK(pthread_cond_destroy(&by_date) == 0);
  CHECK(pthread_cond_destroy(&by_clock) == 0);
}

void reader_writer_locks() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  long pair[2] = {};
  in_threads([&](int me) {
    for (int i = 0; i < rounds; ++i) {
      if (me == 0) {
        CHECK(pthread_rwlock_wrlock(&lock) == 0);
        ++pair[0];
        ++pair[1];
      } else {
        CHECK(pthread_rwlock_rdlock(&lock) == 0);
        CHECK(pair[0] == pair[1]);
      }
      CHECK(pthread_rwlock_unlock(&lock) == 0);
    }
  });
  CHECK(pair[0] == rounds);
  CHECK(pthread_rwlock_rdlock(&lock) == 0);
  CHECK(pthread_rwlock_tryrdlock(&lock) == 0);
  std::thread([&] {
    CHECK(pthread_rwlock_trywrlock(&lock) == EBUSY);
    timespec until = in_ms(CLOCK_REALTIME, 10);
    CHECK(pthread_rwlock_timedwrlock(&lock, &until) == ETIMEDOUT);
    until = in_ms(CLOCK_MONOTONIC, 10);
    CHECK(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
  }).join();
  CHECK(pthread_rwlock_unlock(&lock) == 0);
  CHECK(pthread_rwlock_unlock(&lock) == 0);
  CHECK(pthread_rwlock_wrlock(&lock) == 0);
  CHECK(pthread_rwlock_rdlock(&lock) == EDEADLK);
  CHECK(pthread_rwlock_unlock(&lock) == 0);
  CHECK(pthread_rwlock_destroy(&lock) == 0);
}

void spin_locks_and_barriers() {
  pthread_spinlock_t spin;
  pthread_barrier_t barrier;
  CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
  CHECK(pthread_barrier_init(&barrier, nullptr, threads) == 0);
  long sum = 0;
  long serial = 0;
  in_threads([&](int) {
    for (int i = 1; i <= 50; ++i) {
      CHECK(pthread_spin_lock(&spin) == 0);
      ++sum;
      CHECK(pthread_spin_unlock(&spin) == 0);
      const int answer = pthread_barrier_wait(&barrier);
      CHECK(answer == 0 || answer == PTHREAD_BARRIER_SERIAL_THREAD);
      CHECK(sum == i * threads);
      if (answer == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
      pthread_barrier_wait(&barrier);
    }
  });
  CHECK(serial == 50);
  CHECK(pthread_spin_trylock(&spin) == 0);
  CHECK(pthread_spin_trylock(&spin) == EBUSY);
  CHECK(pthread_spin_unlock(&spin) == 0);
  CHECK(pthread_spin_destroy(&spin) == 0);
  CHECK(pthread_barrier_destroy(&barrier) == 0);
}

}  // namespace

int main() {
  mutexes_of_all_kinds();
  sections_within_sections();
  conditions();
  conditions_with_time();
  reader_writer_locks();
  spin_locks_and_barriers();
  std::printf("all right\n");
  return 0;
}
