// SPDX-License-Identifier: Apache-2.0
// Mutexes of every kind.
#include <algorithm>
#include <cerrno>

#include "support.hpp"

namespace {

using namespace preload_tests;

constexpr int all_types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                             PTHREAD_MUTEX_ADAPTIVE_NP};

/// The library keeps the way it takes a lock in the 4 high bits of the C library's former elision field. 0: the lock is
/// not the library's.
#ifdef __x86_64__
unsigned how_taken(const pthread_mutex_t& mutex) { return static_cast<std::uint16_t>(mutex.__data.__elision) >> 12; }
#else
unsigned how_taken(const pthread_mutex_t&) { return 2; }
#endif
bool is_ours(const pthread_mutex_t& mutex) {
  return !under_preload() || getenv("TXSYNC_CHANNEL") != nullptr || how_taken(mutex) > 1;
}

void expect_works(pthread_mutex_t* mutex) {
  ASSERT_EQ(pthread_mutex_lock(mutex), 0);
  EXPECT_EQ(elsewhere([&] { return pthread_mutex_trylock(mutex); }), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(mutex), 0);
  EXPECT_EQ(elsewhere([&] {
              const int status = pthread_mutex_trylock(mutex);
              return status != 0 ? status : pthread_mutex_unlock(mutex);
            }),
            0);
  EXPECT_TRUE(is_ours(*mutex));
}

TEST(mutex, static_initialisers) {
  pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
  for (pthread_mutex_t* mutex : {&normal, &recursive, &checked, &adaptive}) expect_works(mutex);
  ASSERT_EQ(pthread_mutex_lock(&recursive), 0);
  EXPECT_EQ(pthread_mutex_lock(&recursive), 0);
  EXPECT_EQ(pthread_mutex_unlock(&recursive), 0);
  EXPECT_EQ(pthread_mutex_unlock(&recursive), 0);
  ASSERT_EQ(pthread_mutex_lock(&checked), 0);
  EXPECT_EQ(pthread_mutex_lock(&checked), EDEADLK);
  EXPECT_EQ(pthread_mutex_unlock(&checked), 0);
  for (pthread_mutex_t* mutex : {&normal, &recursive, &checked, &adaptive}) EXPECT_EQ(pthread_mutex_destroy(mutex), 0);
}

TEST(mutex, attributes_of_every_type) {
  for (const int type : all_types) {
    typed_mutex mutex(type);
    expect_works(mutex.get());
  }
  pthread_mutex_t plain;
  ASSERT_EQ(pthread_mutex_init(&plain, nullptr), 0);
  expect_works(&plain);
  EXPECT_EQ(pthread_mutex_destroy(&plain), 0);
}

/// Not inlined: one call makes all of them, another one takes all of them first.
[[gnu::noinline]] int make(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) {
  return pthread_mutex_init(mutex, attributes);
}
[[gnu::noinline]] int take(pthread_mutex_t* mutex) { return pthread_mutex_lock(mutex); }

/// The whole life of a mutex of that type. `how`: how the last one like it was taken; 16: there was none.
void live_as(int type, pthread_mutex_t* mutex, unsigned& how, bool looks_from_elsewhere) {
  ASSERT_EQ(take(mutex), 0);
  EXPECT_TRUE(how == 16 || how == how_taken(*mutex)) << how << ", and now " << how_taken(*mutex);
  how = how_taken(*mutex);
  if (type == PTHREAD_MUTEX_RECURSIVE) {
    ASSERT_EQ(take(mutex), 0);
    ASSERT_EQ(pthread_mutex_unlock(mutex), 0);
  } else if (type == PTHREAD_MUTEX_ERRORCHECK) {
    ASSERT_EQ(take(mutex), EDEADLK);
  } else {
    ASSERT_EQ(pthread_mutex_trylock(mutex), EBUSY);
  }
  if (looks_from_elsewhere) {
    ASSERT_EQ(elsewhere([&] { return pthread_mutex_trylock(mutex); }), EBUSY);
  }
  ASSERT_EQ(pthread_mutex_unlock(mutex), 0);
  ASSERT_EQ(pthread_mutex_destroy(mutex), 0);
  ASSERT_EQ(take(mutex), EINVAL) << "destroyed";
}

// What is known of a call from the mutexes before must not be said of one of another kind.
TEST(mutex, kinds_that_one_call_makes_or_first_takes) {
  const pthread_mutex_t initial[] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                                     PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP};
  unsigned how_made[2][std::size(all_types)], how_copied[std::size(all_types)];
  for (auto* each : {how_made[0], how_made[1], how_copied}) std::fill_n(each, std::size(all_types), 16);
  for (unsigned turn = 0; turn < 80; ++turn) {
    const unsigned kind = turn % std::size(all_types);
    const bool is_foreign = turn / std::size(all_types) % 2 == 1;  // left to the C library
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, all_types[kind]);
    pthread_mutexattr_setprotocol(&attributes, is_foreign ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
    pthread_mutex_t made;
    ASSERT_EQ(make(&made, &attributes), 0);
    pthread_mutexattr_destroy(&attributes);
    pthread_mutex_t copied = initial[kind];
    live_as(all_types[kind], &made, how_made[is_foreign ? 1 : 0][kind], turn % 11 == 0);
    live_as(all_types[kind], &copied, how_copied[kind], turn % 11 == 0);
  }
}

// An attribute object that nobody initialised, or that was destroyed: not allowed, but programs do it.
TEST(mutex, attributes_that_are_none) {
  pthread_mutexattr_t attributes;
  std::memset(&attributes, 0, sizeof attributes);
  pthread_mutex_t mutex;
  ASSERT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
  expect_works(&mutex);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutexattr_destroy(&attributes);
  ASSERT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
  expect_works(&mutex);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

TEST(mutex, zeroed_memory_and_copied_initialisers) {
  void* const memory = calloc(1, sizeof(pthread_mutex_t));
  auto* const mutex = static_cast<pthread_mutex_t*>(memory);
  expect_works(mutex);
  const pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  *mutex = recursive;  // over one that was used
  ASSERT_EQ(pthread_mutex_lock(mutex), 0);
  EXPECT_EQ(pthread_mutex_lock(mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(mutex), 0);
  const pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
  *mutex = plain;
  ASSERT_EQ(pthread_mutex_lock(mutex), 0);
  EXPECT_EQ(pthread_mutex_trylock(mutex), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(mutex), 0);
  free(memory);
}

TEST(mutex, recursive_counts) {
  typed_mutex mutex(PTHREAD_MUTEX_RECURSIVE);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(i % 2 == 0 ? pthread_mutex_lock(mutex.get()) : pthread_mutex_trylock(mutex.get()), 0);
  for (int i = 0; i < 1000; ++i) {
    if (i % 111 == 0 || i == 998) {
      EXPECT_EQ(elsewhere([&] { return pthread_mutex_trylock(mutex.get()); }), EBUSY);
    }
    ASSERT_EQ(pthread_mutex_unlock(mutex.get()), 0);
  }
  EXPECT_EQ(pthread_mutex_unlock(mutex.get()), EPERM);
}

TEST(mutex, errors_of_the_checking_kinds) {
  for (const int type : {PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE}) {
    typed_mutex mutex(type);
    EXPECT_EQ(pthread_mutex_unlock(mutex.get()), EPERM);
    ASSERT_EQ(pthread_mutex_lock(mutex.get()), 0);
    EXPECT_EQ(elsewhere([&] { return pthread_mutex_unlock(mutex.get()); }), EPERM);
    if (type == PTHREAD_MUTEX_ERRORCHECK) {
      EXPECT_EQ(pthread_mutex_trylock(mutex.get()), EBUSY);
      const timespec soon = in_ms(CLOCK_REALTIME, 10);
      EXPECT_EQ(pthread_mutex_timedlock(mutex.get(), &soon), EDEADLK);
    }
    EXPECT_EQ(pthread_mutex_unlock(mutex.get()), 0);
  }
}

TEST(mutex, destroy) {
  for (const int type : all_types) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutex_t mutex;
    ASSERT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
    EXPECT_EQ(pthread_mutex_destroy(&mutex), 0) << "never locked";
    ASSERT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
    on_threads(4, [&](int) {
      for (int i = 0; i < 1000; ++i) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
      }
    });
    EXPECT_EQ(pthread_mutex_destroy(&mutex), 0) << "unlocked";
    ASSERT_EQ(pthread_mutex_init(&mutex, &attributes), 0) << "used again";
    ASSERT_EQ(pthread_mutex_lock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
    EXPECT_EQ(pthread_mutex_lock(&mutex), EINVAL) << "destroyed";
    pthread_mutexattr_destroy(&attributes);
  }
}

TEST(mutex, timed) {
  for (const int type : all_types) {
    typed_mutex mutex(type);
    const timespec past{1, 0}, nonsense{1, 1'000'000'000}, before_time{-5, 0};
    // Free: the time does not matter.
    for (const timespec& time : {past, nonsense}) {
      ASSERT_EQ(pthread_mutex_timedlock(mutex.get(), &time), 0);
      EXPECT_EQ(pthread_mutex_unlock(mutex.get()), 0);
    }
    ASSERT_EQ(pthread_mutex_lock(mutex.get()), 0);
    std::thread([&] {
      EXPECT_EQ(pthread_mutex_timedlock(mutex.get(), &past), ETIMEDOUT);
      EXPECT_EQ(pthread_mutex_timedlock(mutex.get(), &before_time), ETIMEDOUT);
      EXPECT_EQ(pthread_mutex_timedlock(mutex.get(), &nonsense), EINVAL);
      for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
        const timespec soon = in_ms(clock, 30);
        EXPECT_EQ(pthread_mutex_clocklock(mutex.get(), clock, &soon), ETIMEDOUT);
        EXPECT_TRUE(has_come(clock, soon));
      }
      const timespec soon = in_ms(CLOCK_REALTIME, 30);
      EXPECT_EQ(pthread_mutex_timedlock(mutex.get(), &soon), ETIMEDOUT);
      EXPECT_TRUE(has_come(CLOCK_REALTIME, soon));
      EXPECT_EQ(pthread_mutex_clocklock(mutex.get(), CLOCK_PROCESS_CPUTIME_ID, &soon), EINVAL);
    }).join();
    std::thread late([&] {
      const timespec limit = in_ms(CLOCK_MONOTONIC, 20'000);
      EXPECT_EQ(pthread_mutex_clocklock(mutex.get(), CLOCK_MONOTONIC, &limit), 0);
      EXPECT_EQ(pthread_mutex_unlock(mutex.get()), 0);
    });
    sleep_ms(30);
    EXPECT_EQ(pthread_mutex_unlock(mutex.get()), 0);
    late.join();
  }
}

TEST(mutex, counters_are_exact) {
  for (const int type : all_types) {
    for (const int threads : {1, 2, 4, 16}) {
      typed_mutex mutex(type);
      long counter = 0;
      const int rounds = 40'000 / threads;
      on_threads(threads, [&](int index) {
        for (int i = 0; i < rounds; ++i) {
          // One in eight comes by another way.
          const timespec limit = in_ms(CLOCK_REALTIME, 60'000);
          if ((i + index) % 8 == 0) {
            while (pthread_mutex_trylock(mutex.get()) != 0) sched_yield();
          } else if ((i + index) % 8 == 1) {
            ASSERT_EQ(pthread_mutex_timedlock(mutex.get(), &limit), 0);
          } else {
            pthread_mutex_lock(mutex.get());
          }
          counter = counter + 1;
          pthread_mutex_unlock(mutex.get());
        }
      });
      EXPECT_EQ(counter, static_cast<long>(rounds) * threads) << "type " << type << ", " << threads << " threads";
    }
  }
}

TEST(mutex, timeouts_among_contenders_lose_nothing) {
  typed_mutex mutex(PTHREAD_MUTEX_NORMAL);
  long counter = 0;
  std::atomic<long> entered{0};
  on_threads(6, [&](int index) {
    for (int i = 0; i < 300; ++i) {
      const timespec limit = in_ms(CLOCK_MONOTONIC, index < 3 ? 1 : 60'000);
      if (pthread_mutex_clocklock(mutex.get(), CLOCK_MONOTONIC, &limit) != 0) continue;
      counter = counter + 1;
      ++entered;
      if (i % 100 == 0) sleep_ms(2);
      pthread_mutex_unlock(mutex.get());
    }
  });
  EXPECT_EQ(counter, entered.load());
  EXPECT_EQ(pthread_mutex_trylock(mutex.get()), 0);
  EXPECT_EQ(pthread_mutex_unlock(mutex.get()), 0);
}

void make_robust(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ASSERT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
}

TEST(mutex, robust) {
  pthread_mutex_t mutex;
  make_robust(mutex);
  EXPECT_EQ(elsewhere([&] { return pthread_mutex_lock(&mutex); }), 0);  // and dies
  EXPECT_EQ(pthread_mutex_lock(&mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_consistent(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(elsewhere([&] { return pthread_mutex_lock(&mutex); }), 0);
  EXPECT_EQ(pthread_mutex_trylock(&mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_lock(&mutex), ENOTRECOVERABLE);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

TEST(mutex, robust_whose_owner_dies_while_another_waits) {
  pthread_mutex_t mutex;
  make_robust(mutex);
  std::atomic<bool> held{false};
  std::thread owner([&] {
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    held = true;
    usleep(20'000);
  });
  while (!held) usleep(100);
  EXPECT_EQ(pthread_mutex_lock(&mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_trylock(&mutex), ENOTRECOVERABLE);
  owner.join();
}

TEST(mutex, owners_of_robust_and_inheriting_kinds_come_again) {
  for (const bool robust : {false, true}) {
    for (const int type : {PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE}) {
      pthread_mutexattr_t attributes;
      pthread_mutexattr_init(&attributes);
      pthread_mutexattr_settype(&attributes, type);
      if (robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
      if (!robust) pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
      pthread_mutex_t mutex;
      ASSERT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
      const bool counts = type == PTHREAD_MUTEX_RECURSIVE;
      EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
      EXPECT_EQ(pthread_mutex_lock(&mutex), counts ? 0 : EDEADLK) << robust;
      EXPECT_EQ(elsewhere([&] { return pthread_mutex_trylock(&mutex); }), EBUSY);
      const timespec limit = in_ms(CLOCK_REALTIME, 5);
      EXPECT_EQ(elsewhere([&] { return pthread_mutex_timedlock(&mutex, &limit); }), ETIMEDOUT);
      EXPECT_EQ(pthread_mutex_timedlock(&mutex, &limit), counts ? 0 : EDEADLK) << robust;
      for (int times = counts ? 3 : 1; times != 0; --times) EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
      EXPECT_EQ(pthread_mutex_unlock(&mutex), EPERM);
      EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
    }
  }
}

TEST(mutex, priority_inheriting) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  pthread_mutex_t mutex;
  ASSERT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
  long counter = 0;
  on_threads(4, [&](int) {
    for (int i = 0; i < 2000; ++i) {
      pthread_mutex_lock(&mutex);
      counter = counter + 1;
      pthread_mutex_unlock(&mutex);
    }
  });
  EXPECT_EQ(counter, 8000);
  EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

TEST(mutex, process_shared) {
  struct both {
    pthread_mutex_t mutex;
    long counter;
  };
  auto& shared = shared_memory<both>();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ASSERT_EQ(pthread_mutex_init(&shared.mutex, &attributes), 0);
  const auto count = [&] {
    for (int i = 0; i < 50'000; ++i) {
      pthread_mutex_lock(&shared.mutex);
      shared.counter = shared.counter + 1;
      pthread_mutex_unlock(&shared.mutex);
    }
    return true;
  };
  const pid_t child = start_child(count);
  count();
  EXPECT_TRUE(child_succeeded(child));
  EXPECT_EQ(shared.counter, 100'000);
  EXPECT_EQ(pthread_mutex_destroy(&shared.mutex), 0);
}

TEST(mutex, errno_is_left_alone) {
  typed_mutex mutex(PTHREAD_MUTEX_NORMAL);
  on_threads(4, [&](int) {
    for (int i = 0; i < 5000; ++i) {
      errno = 4711;
      pthread_mutex_lock(mutex.get());
      pthread_mutex_unlock(mutex.get());
      const timespec limit = in_ms(CLOCK_REALTIME, 1);
      if (pthread_mutex_timedlock(mutex.get(), &limit) == 0) pthread_mutex_unlock(mutex.get());
      ASSERT_EQ(errno, 4711);
    }
  });
}

// Handing a normal mutex to another thread to unlock is wrong, and works with the C library.
TEST(mutex, unlocked_by_another_thread) {
  typed_mutex mutex(PTHREAD_MUTEX_NORMAL);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(pthread_mutex_lock(mutex.get()), 0);
    EXPECT_EQ(elsewhere([&] { return pthread_mutex_unlock(mutex.get()); }), 0);
  }
  EXPECT_EQ(pthread_mutex_trylock(mutex.get()), 0);
  EXPECT_EQ(pthread_mutex_unlock(mutex.get()), 0);
}

// The next owner may destroy it and use its memory for something else as soon as it has it.
TEST(mutex, freed_by_the_next_owner) {
  struct item {
    pthread_mutex_t mutex;
    int users;
  };
  for (int i = 0; i < 2000; ++i) {
    auto* const one = new item{PTHREAD_MUTEX_INITIALIZER, 2};
    const auto leave = [one] {
      pthread_mutex_lock(&one->mutex);
      const bool last = --one->users == 0;
      pthread_mutex_unlock(&one->mutex);
      if (!last) return;
      EXPECT_EQ(pthread_mutex_destroy(&one->mutex), 0);
      std::memset(static_cast<void*>(one), 0xA5, sizeof *one);
      delete one;
    };
    std::thread other(leave);
    leave();
    other.join();
  }
}

}  // namespace
