// SPDX-License-Identifier: Apache-2.0
// Spin locks and barriers.
#include <cerrno>

#include "support.hpp"

namespace {

using namespace preload_tests;

TEST(spin, excludes_and_counts) {
  pthread_spinlock_t lock;
  ASSERT_EQ(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE), 0);
  ASSERT_EQ(pthread_spin_lock(&lock), 0);
  EXPECT_EQ(pthread_spin_trylock(&lock), EBUSY);
  EXPECT_EQ(elsewhere([&] { return pthread_spin_trylock(&lock); }), EBUSY);
  EXPECT_EQ(pthread_spin_unlock(&lock), 0);
  EXPECT_EQ(pthread_spin_trylock(&lock), 0);
  EXPECT_EQ(pthread_spin_unlock(&lock), 0);
  for (const int threads : {1, 2, 4}) {
    long counter = 0;
    on_threads(threads, [&](int) {
      for (int i = 0; i < 10'000; ++i) {
        pthread_spin_lock(&lock);
        counter = counter + 1;
        pthread_spin_unlock(&lock);
      }
    });
    EXPECT_EQ(counter, 10'000L * threads);
  }
  EXPECT_EQ(pthread_spin_destroy(&lock), 0);
  ASSERT_EQ(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE), 0);
  EXPECT_EQ(pthread_spin_trylock(&lock), 0);
  EXPECT_EQ(pthread_spin_unlock(&lock), 0);
}

TEST(spin, process_shared) {
  struct both {
    pthread_spinlock_t lock;
    long counter;
  };
  auto& shared = shared_memory<both>();
  ASSERT_EQ(pthread_spin_init(&shared.lock, PTHREAD_PROCESS_SHARED), 0);
  const auto count = [&] {
    for (int i = 0; i < 10'000; ++i) {
      pthread_spin_lock(&shared.lock);
      shared.counter = shared.counter + 1;
      pthread_spin_unlock(&shared.lock);
    }
    return true;
  };
  const pid_t child = start_child(count);
  count();
  EXPECT_TRUE(child_succeeded(child));
  EXPECT_EQ(shared.counter, 20'000);
}

TEST(barrier, one_serial_thread_each_time) {
  for (const unsigned threads : {1U, 2U, 4U, 16U}) {
    pthread_barrier_t barrier;
    ASSERT_EQ(pthread_barrier_init(&barrier, nullptr, threads), 0);
    constexpr int rounds = 200;
    std::atomic<int> serial{0}, arrived{0};
    on_threads(static_cast<int>(threads), [&](int) {
      for (int i = 1; i <= rounds; ++i) {
        ++arrived;
        const int status = pthread_barrier_wait(&barrier);
        // All of this round have arrived, and of the next at most those that were let go.
        EXPECT_GE(arrived.load(), i * static_cast<int>(threads));
        if (status == PTHREAD_BARRIER_SERIAL_THREAD)
          ++serial;
        else
          EXPECT_EQ(status, 0);
      }
    });
    EXPECT_EQ(serial.load(), rounds);
    EXPECT_EQ(pthread_barrier_destroy(&barrier), 0);
  }
  pthread_barrier_t barrier;
  EXPECT_EQ(pthread_barrier_init(&barrier, nullptr, 0), EINVAL);
}

// The first that returns may destroy it and use its memory, while the others leave.
TEST(barrier, destroyed_by_the_first_that_returns) {
  for (int round = 0; round < 1000; ++round) {
    auto* const barrier = new pthread_barrier_t;
    ASSERT_EQ(pthread_barrier_init(barrier, nullptr, 3), 0);
    std::atomic<int> returned{0};
    on_threads(3, [&](int) {
      pthread_barrier_wait(barrier);
      if (returned++ != 0) return;
      EXPECT_EQ(pthread_barrier_destroy(barrier), 0);
      std::memset(static_cast<void*>(barrier), 0xA5, sizeof *barrier);
    });
    const auto* const bytes = reinterpret_cast<const unsigned char*>(barrier);
    for (std::size_t i = 0; i < sizeof *barrier; ++i) ASSERT_EQ(bytes[i], 0xA5);
    delete barrier;
  }
}

TEST(barrier, process_shared) {
  struct both {
    pthread_barrier_t barrier;
    std::atomic<int> serial;
  };
  auto& shared = shared_memory<both>();
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ASSERT_EQ(pthread_barrier_init(&shared.barrier, &attributes, 2), 0);
  const auto meet = [&] {
    for (int i = 0; i < 100; ++i)
      if (pthread_barrier_wait(&shared.barrier) == PTHREAD_BARRIER_SERIAL_THREAD) ++shared.serial;
    return true;
  };
  const pid_t child = start_child(meet);
  meet();
  EXPECT_TRUE(child_succeeded(child));
  EXPECT_EQ(shared.serial.load(), 100);
}

}  // namespace
