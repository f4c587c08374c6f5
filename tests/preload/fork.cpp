// SPDX-License-Identifier: Apache-2.0
// The child of a fork has one thread, and locks in whose queues the parent's threads stand that do not exist there.
#include <cerrno>

#include "early_handlers.hpp"
#include "support.hpp"

namespace {

using namespace preload_tests;

/// In a child: many threads on one mutex and condition; true when nothing was lost.
bool contend(pthread_mutex_t* mutex, pthread_cond_t* condition) {
  int tokens = 0;
  long counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) {
        pthread_mutex_lock(mutex);
        counter = counter + 1;
        pthread_mutex_unlock(mutex);
      }
      pthread_mutex_lock(mutex);
      while (tokens == 0) pthread_cond_wait(condition, mutex);
      --tokens;
      pthread_mutex_unlock(mutex);
    });
  for (int i = 0; i < 4; ++i) {
    pthread_mutex_lock(mutex);
    ++tokens;
    pthread_cond_signal(condition);
    pthread_mutex_unlock(mutex);
  }
  for (std::thread& thread : threads) thread.join();
  pthread_mutex_lock(mutex);
  const bool right = tokens == 0 && counter == 2000;
  pthread_mutex_unlock(mutex);
  return right;
}

/// Threads that repeat their step over and over, but rest while a child is checked. The child has what they were doing
/// at the fork, and need not share the processors with them.
class busy_threads {
 public:
  busy_threads(int count, const std::function<void(int)>& step) {
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([this, i, step] {
        while (!over_) {
          if (!resting_) {
            step(i);
            continue;
          }
          ++at_rest_;
          while (resting_ && !over_) sleep_ms(1);
          --at_rest_;
        }
      });
  }
  ~busy_threads() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  /// Forks by start(), which answers the child, when all threads have been at it for a while; true when it succeeded.
  bool among(const std::function<pid_t()>& start) {
    resting_ = false;
    while (at_rest_ != 0) sleep_ms(1);
    sleep_ms(2);
    const pid_t child = start();
    resting_ = true;
    return child_succeeded(child);
  }

 private:
  std::atomic<bool> over_{false}, resting_{false};
  std::atomic<int> at_rest_{0};
  std::vector<std::thread> threads_;
};

TEST(fork, handlers_with_waiters_queued) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  static bool handlers_on = false;
  pthread_atfork(
      [] {
        if (handlers_on) pthread_mutex_lock(&mutex);
      },
      [] {
        if (handlers_on) pthread_mutex_unlock(&mutex);
      },
      [] {
        if (handlers_on) pthread_mutex_unlock(&mutex);
      });
  handlers_on = true;
  {
    busy_threads threads(6, [](int i) {
      pthread_mutex_lock(&mutex);
      if (i < 2) {
        const timespec soon = in_ms(CLOCK_REALTIME, 1);
        pthread_cond_timedwait(&condition, &mutex, &soon);
      }
      pthread_mutex_unlock(&mutex);
    });
    const auto child_and_its_child = [] {
      pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
      return contend(&mutex, &fresh) && in_child([] {
               pthread_cond_t inner = PTHREAD_COND_INITIALIZER;
               return contend(&mutex, &inner);
             });
    };
    for (int round = 0; round < 20; ++round) {
      EXPECT_TRUE(threads.among([&] { return start_child(child_and_its_child); })) << round;
    }
  }
  handlers_on = false;
}

// What the parent's threads wait on. The C library's own conditions can be in the midst of a change by one of them.
TEST(fork, condition_with_waiters_of_the_parent) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  if (!under_preload()) GTEST_SKIP() << "not promised by the C library";
  busy_threads threads(6, [](int i) {
    if (i < 2) {
      pthread_cond_signal(&condition);
      return;
    }
    pthread_mutex_lock(&mutex);
    timespec soon = now_on(CLOCK_MONOTONIC);
    soon.tv_nsec = soon.tv_nsec < 999'900'000 ? soon.tv_nsec + 50'000 : 999'999'999;
    pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &soon);
    pthread_mutex_unlock(&mutex);
  });
  const auto fork_with_the_mutex = [] {
    pthread_mutex_lock(&mutex);
    const pid_t child = start_child([] {
      pthread_mutex_unlock(&mutex);
      return contend(&mutex, &condition) && pthread_cond_destroy(&condition) == 0;
    });
    pthread_mutex_unlock(&mutex);
    return child;
  };
  for (int round = 0; round < 100; ++round) EXPECT_TRUE(threads.among(fork_with_the_mutex)) << round;
}

TEST(fork, handlers_of_a_library_that_came_first) {
  busy_threads threads(6, [](int i) {
    pthread_mutex_lock(&early_mutex);
    if (i < 3 && under_preload()) {
      const timespec soon = in_ms(CLOCK_REALTIME, 5);
      pthread_cond_timedwait(&early_condition, &early_mutex, &soon);
    }
    pthread_mutex_unlock(&early_mutex);
  });
  const auto child = [] {
    pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
    return early_handler_errors == 0 && contend(&early_mutex, under_preload() ? &early_condition : &fresh);
  };
  for (int round = 0; round < 50; ++round) EXPECT_TRUE(threads.among([&] { return start_child(child); })) << round;
}

// A recursive and a checking mutex that are held over a fork belong to the child's thread.
TEST(fork, owner_stays_owner) {
  for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE}) {
    typed_mutex mutex(type);
    pthread_mutex_lock(mutex.get());
    EXPECT_TRUE(in_child([&] {
      return (type != PTHREAD_MUTEX_RECURSIVE || pthread_mutex_trylock(mutex.get()) == EBUSY ||
              pthread_mutex_unlock(mutex.get()) == 0) &&
             pthread_mutex_destroy(mutex.get()) == EBUSY;
    }));
    pthread_mutex_unlock(mutex.get());
  }
  // (The C library's recursive mutex knows the owner by a number that the child does not have; ours by one it has.)
}

TEST(fork, rwlock_that_prefers_writers) {
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  if (!under_preload()) GTEST_SKIP() << "not promised by the C library";
  pthread_rwlock_wrlock(&lock);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      if (i % 2 == 0)
        pthread_rwlock_wrlock(&lock);
      else
        pthread_rwlock_rdlock(&lock);
      pthread_rwlock_unlock(&lock);
    });
  sleep_ms(30);
  const pid_t child = start_child([] {
    pthread_rwlock_unlock(&lock);
    long counter = 0;
    const bool read =
        elsewhere([] { return pthread_rwlock_tryrdlock(&lock); }) == 0 && pthread_rwlock_unlock(&lock) == 0;
    on_threads(4, [&](int) {
      for (int i = 0; i < 1000; ++i) {
        pthread_rwlock_wrlock(&lock);
        counter = counter + 1;
        pthread_rwlock_unlock(&lock);
        pthread_rwlock_rdlock(&lock);
        pthread_rwlock_unlock(&lock);
      }
    });
    return read && counter == 4000;
  });
  EXPECT_TRUE(child_succeeded(child));
  pthread_rwlock_unlock(&lock);
  for (std::thread& thread : threads) thread.join();
}

TEST(fork, many_waiting_threads) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::vector<std::thread> threads;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < 60; ++i)
    threads.emplace_back([&] {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    });
  sleep_ms(50);
  for (int round = 0; round < 10; ++round) {
    const pid_t child = start_child([&] {
      pthread_mutex_unlock(&mutex);
      pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
      return contend(&mutex, &fresh);
    });
    EXPECT_TRUE(child_succeeded(child)) << round;
  }
  pthread_mutex_unlock(&mutex);
  for (std::thread& thread : threads) thread.join();
}

TEST(fork, vfork_and_exec) {
  typed_mutex mutex(PTHREAD_MUTEX_NORMAL);
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) {
      pthread_mutex_lock(mutex.get());
      pthread_mutex_unlock(mutex.get());
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(system("true"), 0);
    pthread_mutex_lock(mutex.get());
    pthread_mutex_unlock(mutex.get());
  }
  over = true;
  other.join();
}

}  // namespace
