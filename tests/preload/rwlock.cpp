// SPDX-License-Identifier: Apache-2.0
// Reader-writer locks.
#include <cerrno>

#include "support.hpp"

namespace {

using namespace preload_tests;

/// Under `rwlock = as-mutex` readers exclude each other.
bool readers_share() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_rdlock(&lock);
  const bool shared = elsewhere([&] {
                        const int status = pthread_rwlock_tryrdlock(&lock);
                        if (status == 0) pthread_rwlock_unlock(&lock);
                        return status;
                      }) == 0;
  pthread_rwlock_unlock(&lock);
  return shared;
}

TEST(rwlock, excludes) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  ASSERT_EQ(pthread_rwlock_wrlock(&lock), 0);
  EXPECT_EQ(elsewhere([&] { return pthread_rwlock_tryrdlock(&lock); }), EBUSY);
  EXPECT_EQ(elsewhere([&] { return pthread_rwlock_trywrlock(&lock); }), EBUSY);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  ASSERT_EQ(pthread_rwlock_rdlock(&lock), 0);
  ASSERT_EQ(pthread_rwlock_tryrdlock(&lock), 0);
  EXPECT_EQ(elsewhere([&] { return pthread_rwlock_trywrlock(&lock); }), EBUSY);
  EXPECT_EQ(pthread_rwlock_trywrlock(&lock), EBUSY);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(elsewhere([&] { return pthread_rwlock_trywrlock(&lock); }), EBUSY);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  ASSERT_EQ(pthread_rwlock_trywrlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
  if (getenv("TXSYNC_CHANNEL") == nullptr) {
    EXPECT_TRUE(readers_share());
  }
}

TEST(rwlock, deadlock_with_oneself) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  ASSERT_EQ(pthread_rwlock_wrlock(&lock), 0);
  const timespec soon = in_ms(CLOCK_REALTIME, 20);
  EXPECT_EQ(pthread_rwlock_wrlock(&lock), EDEADLK);
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), EDEADLK);
  EXPECT_EQ(pthread_rwlock_timedwrlock(&lock, &soon), EDEADLK);
  EXPECT_EQ(pthread_rwlock_timedrdlock(&lock, &soon), EDEADLK);
  EXPECT_EQ(pthread_rwlock_tryrdlock(&lock), EBUSY);
  EXPECT_EQ(pthread_rwlock_trywrlock(&lock), EBUSY);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
}

// What programs rely on: a reader may come in again though a writer waits.
TEST(rwlock, reader_comes_again_past_a_waiting_writer) {
  for (const int kind : {PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NP}) {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, kind);
    pthread_rwlock_t lock;
    ASSERT_EQ(pthread_rwlock_init(&lock, &attributes), 0);
    ASSERT_EQ(pthread_rwlock_rdlock(&lock), 0);
    bool wrote = false;
    std::thread writer([&] {
      pthread_rwlock_wrlock(&lock);
      wrote = true;
      pthread_rwlock_unlock(&lock);
    });
    sleep_ms(50);
    EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
    EXPECT_FALSE(wrote);
    EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
    EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
    writer.join();
    EXPECT_TRUE(wrote);
    EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
  }
}

TEST(rwlock, writers_first_where_asked_for) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  ASSERT_EQ(pthread_rwlock_rdlock(&lock), 0);
  std::thread writer([&] {
    pthread_rwlock_wrlock(&lock);
    sleep_ms(5);
    pthread_rwlock_unlock(&lock);
  });
  // Once the writer is asleep no new reader comes in.
  const timespec limit = in_ms(CLOCK_MONOTONIC, 20'000);
  bool kept_out = false;
  while (!kept_out && !has_come(CLOCK_MONOTONIC, limit)) {
    kept_out = elsewhere([&] {
                 const int status = pthread_rwlock_tryrdlock(&lock);
                 if (status == 0) pthread_rwlock_unlock(&lock);
                 return status;
               }) == EBUSY;
    sleep_ms(1);
  }
  EXPECT_TRUE(kept_out);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  writer.join();
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
}

TEST(rwlock, timed) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  const timespec nonsense{1, 1'000'000'000}, past{1, 0};
  EXPECT_EQ(pthread_rwlock_timedrdlock(&lock, &nonsense), EINVAL) << "though it is free";
  EXPECT_EQ(pthread_rwlock_timedwrlock(&lock, &nonsense), EINVAL);
  ASSERT_EQ(pthread_rwlock_wrlock(&lock), 0);
  std::thread([&] {
    EXPECT_EQ(pthread_rwlock_timedrdlock(&lock, &nonsense), EINVAL);
    EXPECT_EQ(pthread_rwlock_timedwrlock(&lock, &nonsense), EINVAL);
    EXPECT_EQ(pthread_rwlock_timedrdlock(&lock, &past), ETIMEDOUT);
    EXPECT_EQ(pthread_rwlock_timedwrlock(&lock, &past), ETIMEDOUT);
    EXPECT_EQ(pthread_rwlock_clockrdlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &past), EINVAL);
    for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
      timespec soon = in_ms(clock, 20);
      EXPECT_EQ(pthread_rwlock_clockrdlock(&lock, clock, &soon), ETIMEDOUT);
      EXPECT_TRUE(has_come(clock, soon));
      soon = in_ms(clock, 20);
      EXPECT_EQ(pthread_rwlock_clockwrlock(&lock, clock, &soon), ETIMEDOUT);
      EXPECT_TRUE(has_come(clock, soon));
    }
  }).join();
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  // A writer that gave up keeps nobody out.
  ASSERT_EQ(pthread_rwlock_rdlock(&lock), 0);
  EXPECT_EQ(elsewhere([&] {
              const timespec soon = in_ms(CLOCK_REALTIME, 20);
              return pthread_rwlock_timedwrlock(&lock, &soon);
            }),
            ETIMEDOUT);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  const timespec later = in_ms(CLOCK_REALTIME, 10'000);
  EXPECT_EQ(elsewhere([&] {
              const int status = pthread_rwlock_timedwrlock(&lock, &later);
              return status != 0 ? status : pthread_rwlock_unlock(&lock);
            }),
            0);
}

TEST(rwlock, counts_are_exact) {
  for (const int kind : {PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP}) {
    for (const int threads : {1, 2, 4, 16}) {
      pthread_rwlockattr_t attributes;
      pthread_rwlockattr_init(&attributes);
      pthread_rwlockattr_setkind_np(&attributes, kind);
      pthread_rwlock_t lock;
      ASSERT_EQ(pthread_rwlock_init(&lock, &attributes), 0);
      long first = 0, second = 0;
      const int rounds = 20'000 / threads;
      on_threads(threads, [&](int index) {
        for (int i = 0; i < rounds; ++i) {
          const timespec limit = in_ms(CLOCK_REALTIME, 60'000);
          if ((i + index) % 2 == 0) {
            if (i % 8 == 0)
              ASSERT_EQ(pthread_rwlock_timedwrlock(&lock, &limit), 0);
            else
              pthread_rwlock_wrlock(&lock);
            first = first + 1;
            second = second + 1;
          } else {
            if (i % 8 == 1)
              ASSERT_EQ(pthread_rwlock_timedrdlock(&lock, &limit), 0);
            else
              pthread_rwlock_rdlock(&lock);
            ASSERT_EQ(first, second);
          }
          pthread_rwlock_unlock(&lock);
        }
      });
      EXPECT_EQ(first, static_cast<long>(rounds) * threads / 2);
      EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
    }
  }
}

TEST(rwlock, process_shared) {
  struct both {
    pthread_rwlock_t lock;
    long counter;
  };
  auto& shared = shared_memory<both>();
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ASSERT_EQ(pthread_rwlock_init(&shared.lock, &attributes), 0);
  const auto count = [&] {
    for (int i = 0; i < 20'000; ++i) {
      pthread_rwlock_wrlock(&shared.lock);
      shared.counter = shared.counter + 1;
      pthread_rwlock_unlock(&shared.lock);
    }
    return true;
  };
  const pid_t child = start_child(count);
  count();
  EXPECT_TRUE(child_succeeded(child));
  EXPECT_EQ(shared.counter, 40'000);
}

// Wrong, and harmless with the C library: it answers 0, and the lock goes on.
TEST(rwlock, destroyed_while_held) {
  pthread_rwlock_t lock;
  ASSERT_EQ(pthread_rwlock_init(&lock, nullptr), 0);
  for (const auto enter : {pthread_rwlock_rdlock, pthread_rwlock_wrlock}) {
    EXPECT_EQ(enter(&lock), 0);
    EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
    EXPECT_EQ(elsewhere([&] { return pthread_rwlock_trywrlock(&lock); }), EBUSY);
    EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  }
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
}

// More readers asleep than are counted in 12 bits.
TEST(rwlock, thousands_asleep) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  struct record {
    pthread_rwlock_t& lock;
    std::atomic<int> started{0}, inside{0};
  } all{lock};
  ASSERT_EQ(pthread_rwlock_wrlock(&lock), 0);
  std::vector<pthread_t> threads;
  for (int i = 0; i < 4500; ++i) {
    pthread_t thread{};
    const int status = pthread_create(
        &thread, &small,
        [](void* raw) -> void* {
          auto& shared = *static_cast<record*>(raw);
          ++shared.started;
          pthread_rwlock_rdlock(&shared.lock);
          ++shared.inside;
          pthread_rwlock_unlock(&shared.lock);
          return nullptr;
        },
        &all);
    if (status != 0) break;  // as many as the system gives
    threads.push_back(thread);
  }
  while (all.started < static_cast<int>(threads.size())) sleep_ms(1);
  sleep_ms(100);
  EXPECT_EQ(all.inside, 0);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  EXPECT_EQ(all.inside, static_cast<int>(threads.size()));
  EXPECT_EQ(pthread_rwlock_trywrlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_destroy(&lock), 0);
}

}  // namespace
