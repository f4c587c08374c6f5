// SPDX-License-Identifier: Apache-2.0
// Condition variables: signals, timeouts, clocks, destruction, sharing between processes.
#include <cerrno>

#include "support.hpp"

namespace {

using namespace preload_tests;

/// A mutex, a condition, and what is waited for.
struct scene {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  int waiting = 0;
  int tokens = 0;
  int taken = 0;

  void take_token() {
    pthread_mutex_lock(&mutex);
    ++waiting;
    while (tokens == 0) pthread_cond_wait(&condition, &mutex);
    --tokens;
    ++taken;
    pthread_mutex_unlock(&mutex);
  }
  void give_token() {
    pthread_mutex_lock(&mutex);
    ++tokens;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
  }
  int read(int scene::* field) {
    pthread_mutex_lock(&mutex);
    const int value = this->*field;
    pthread_mutex_unlock(&mutex);
    return value;
  }
  void await(int scene::* field, int value) {
    while (read(field) < value) sleep_ms(1);
  }
};

TEST(condition, signal_reaches_one_and_broadcast_all) {
  scene all;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { all.take_token(); });
  all.await(&scene::waiting, 8);
  for (int i = 1; i <= 3; ++i) {
    pthread_mutex_lock(&all.mutex);
    ++all.tokens;
    EXPECT_EQ(pthread_cond_signal(&all.condition), 0);
    pthread_mutex_unlock(&all.mutex);
    all.await(&scene::taken, i);
  }
  pthread_mutex_lock(&all.mutex);
  all.tokens += 5;
  EXPECT_EQ(pthread_cond_broadcast(&all.condition), 0);
  pthread_mutex_unlock(&all.mutex);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(all.taken, 8);
  EXPECT_EQ(pthread_cond_destroy(&all.condition), 0);
}

// Signals without the mutex, many of them: as many tokens come out as went in.
TEST(condition, tokens_are_exact) {
  for (const int consumers : {1, 2, 4, 16}) {
    scene all;
    constexpr int each = 2000;
    std::thread producer([&] {
      for (int i = 0; i < each * consumers; ++i) {
        pthread_mutex_lock(&all.mutex);
        ++all.tokens;
        pthread_mutex_unlock(&all.mutex);
        pthread_cond_signal(&all.condition);
      }
    });
    on_threads(consumers, [&](int) {
      for (int i = 0; i < each; ++i) all.take_token();
    });
    producer.join();
    EXPECT_EQ(all.tokens, 0);
    EXPECT_EQ(all.taken, each * consumers);
  }
}

TEST(condition, timeouts_with_the_mutex_held) {
  for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    ASSERT_EQ(pthread_condattr_setclock(&attributes, clock), 0);
    pthread_cond_t condition;
    ASSERT_EQ(pthread_cond_init(&condition, &attributes), 0);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    for (const long ms : {-1000L, 30L}) {
      const timespec time = in_ms(clock, ms > 0 ? ms : 0);
      timespec until = time;
      if (ms < 0) until.tv_sec -= 1;
      errno = 4711;
      int status = 0;
      while (status == 0) status = pthread_cond_timedwait(&condition, &mutex, &until);
      EXPECT_EQ(status, ETIMEDOUT);
      EXPECT_TRUE(has_come(clock, until));
      EXPECT_EQ(errno, 4711);
      EXPECT_EQ(elsewhere([&] { return pthread_mutex_trylock(&mutex); }), EBUSY);
    }
    const timespec nonsense{1, 1'000'000'000}, before_time{-1, 0};
    EXPECT_EQ(pthread_cond_timedwait(&condition, &mutex, &nonsense), EINVAL);
    EXPECT_EQ(pthread_cond_timedwait(&condition, &mutex, &before_time), ETIMEDOUT);
    for (const clockid_t other : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
      const timespec until = in_ms(other, 20);
      int status = 0;
      while (status == 0) status = pthread_cond_clockwait(&condition, &mutex, other, &until);
      EXPECT_EQ(status, ETIMEDOUT);
      EXPECT_TRUE(has_come(other, until));
    }
    EXPECT_EQ(pthread_cond_clockwait(&condition, &mutex, CLOCK_PROCESS_CPUTIME_ID, &before_time), EINVAL);
    EXPECT_EQ(elsewhere([&] { return pthread_mutex_trylock(&mutex); }), EBUSY);
    pthread_mutex_unlock(&mutex);
    EXPECT_EQ(pthread_cond_destroy(&condition), 0);
  }
}

// Timeouts that race with signals: nobody takes a token that is not there, none is left over.
TEST(condition, timeouts_race_with_signals) {
  scene all;
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      pthread_mutex_lock(&all.mutex);
      while (!over || all.tokens > 0) {
        const timespec until = in_ms(CLOCK_REALTIME, 0);
        timespec soon = until;
        soon.tv_nsec += 50'000;
        if (soon.tv_nsec >= 1'000'000'000) soon.tv_nsec = 999'999'999;
        if (all.tokens == 0) pthread_cond_timedwait(&all.condition, &all.mutex, &soon);
        if (all.tokens > 0) {
          --all.tokens;
          ++all.taken;
        }
      }
      pthread_mutex_unlock(&all.mutex);
    });
  for (int i = 0; i < 5000; ++i) {
    pthread_mutex_lock(&all.mutex);
    ++all.tokens;
    if (i % 16 == 0)
      pthread_cond_broadcast(&all.condition);
    else
      pthread_cond_signal(&all.condition);
    pthread_mutex_unlock(&all.mutex);
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(all.taken, 5000);
  EXPECT_EQ(pthread_cond_destroy(&all.condition), 0);
}

// A signal is not lost because a waiter that it could have gone to runs into its deadline.
TEST(condition, signal_goes_past_waiters_that_time_out) {
  for (int round = 0; round < 200; ++round) {
    scene all;
    std::thread patient([&] { all.take_token(); });
    all.await(&scene::waiting, 1);
    std::thread hasty([&] {
      pthread_mutex_lock(&all.mutex);
      timespec soon = now_on(CLOCK_MONOTONIC);
      soon.tv_nsec += 100'000 + round * 1000;
      if (soon.tv_nsec >= 1'000'000'000) soon.tv_nsec = 999'999'999;
      const int status = pthread_cond_clockwait(&all.condition, &all.mutex, CLOCK_MONOTONIC, &soon);
      pthread_mutex_unlock(&all.mutex);
      if (status == 0) pthread_cond_signal(&all.condition);  // passes it on, as a program must
    });
    const timespec nap{0, 100'000};
    nanosleep(&nap, nullptr);
    all.give_token();
    patient.join();
    hasty.join();
  }
}

TEST(condition, destroying_one_that_is_waited_on_says_so) {
  scene all;
  std::thread waiter([&] { all.take_token(); });
  all.await(&scene::waiting, 1);
  sleep_ms(20);  // it sleeps
  if (under_preload()) {
    EXPECT_EQ(pthread_cond_destroy(&all.condition), EBUSY);
  }
  all.give_token();
  waiter.join();
  EXPECT_EQ(pthread_cond_destroy(&all.condition), 0);
}

// The thread that has just woken everybody destroys the condition and uses its memory for something else. At that
// moment some of the woken threads give up at their deadlines.
TEST(condition, destroyed_right_after_broadcast) {
  struct item {
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  };
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (int round = 0; round < 1500; ++round) {
    void* const memory = malloc(sizeof(item));
    auto* const one = new (memory) item;
    bool gone = false;
    int inside = 0;
    int left = 0;  // on a busy machine, all may leave before this thread runs
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&, i] {
        pthread_mutex_lock(&mutex);
        ++inside;
        timespec until = now_on(CLOCK_MONOTONIC);
        until.tv_nsec += i == 0 ? 500'000'000 : 20'000 + (round % 100) * 3000;
        if (until.tv_nsec >= 1'000'000'000) {
          ++until.tv_sec;
          until.tv_nsec -= 1'000'000'000;
        }
        int status = 0;
        while (!gone && status == 0) status = pthread_cond_clockwait(&one->condition, &mutex, CLOCK_MONOTONIC, &until);
        --inside;
        ++left;
        pthread_mutex_unlock(&mutex);
      });
    for (;;) {
      pthread_mutex_lock(&mutex);
      if (inside > 0 || left == 3) break;
      pthread_mutex_unlock(&mutex);
      sched_yield();
    }
    gone = true;
    pthread_cond_broadcast(&one->condition);
    EXPECT_EQ(pthread_cond_destroy(&one->condition), 0);
    std::memset(memory, 0xA5, sizeof(item));
    pthread_mutex_unlock(&mutex);
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < sizeof(item); ++i) ASSERT_EQ(static_cast<unsigned char*>(memory)[i], 0xA5);
    free(memory);
  }
}

TEST(condition, recursive_mutex_locked_once) {
  scene all;
  const pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  all.mutex = recursive;
  std::thread waiter([&] { all.take_token(); });
  all.await(&scene::waiting, 1);
  pthread_mutex_lock(&all.mutex);
  all.give_token();
  EXPECT_EQ(elsewhere([&] { return pthread_mutex_trylock(&all.mutex); }), EBUSY);
  pthread_mutex_unlock(&all.mutex);
  waiter.join();
}

// A wrong way to sleep that programs have: it sleeps all the same, and holds the mutex after it.
TEST(condition, wait_with_a_normal_mutex_that_is_not_held) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  const timespec soon = in_ms(CLOCK_REALTIME, 20);
  EXPECT_EQ(pthread_cond_timedwait(&condition, &mutex, &soon), ETIMEDOUT);
  EXPECT_TRUE(has_come(CLOCK_REALTIME, soon));
  EXPECT_EQ(pthread_mutex_trylock(&mutex), EBUSY);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0) << "nobody's, which only checking kinds refuse";
}

TEST(condition, wait_with_a_checked_mutex_that_is_not_held) {
  scene all;
  const pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  all.mutex = checked;
  EXPECT_EQ(pthread_cond_wait(&all.condition, &all.mutex), EPERM);
  // It was not left in the queue.
  std::thread waiter([&] { all.take_token(); });
  all.await(&scene::waiting, 1);
  all.give_token();
  waiter.join();
  EXPECT_EQ(pthread_cond_destroy(&all.condition), 0);
}

void make_shared(scene& all, bool mutex_too) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ASSERT_EQ(pthread_cond_init(&all.condition, &attributes), 0);
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  if (mutex_too) pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  ASSERT_EQ(pthread_mutex_init(&all.mutex, &kind), 0);
}

TEST(condition, process_shared) {
  auto& all = shared_memory<scene>();
  make_shared(all, true);
  const pid_t child = start_child([&] {
    for (int i = 0; i < 200; ++i) all.take_token();
    return true;
  });
  for (int i = 0; i < 200; ++i) {
    all.give_token();
  }
  EXPECT_TRUE(child_succeeded(child));
  EXPECT_EQ(all.taken, 200);
  EXPECT_EQ(pthread_cond_destroy(&all.condition), 0);
}

TEST(condition, shared_condition_with_private_mutex) {
  scene all;
  make_shared(all, false);
  std::thread waiter([&] { all.take_token(); });
  all.await(&scene::waiting, 1);
  all.give_token();
  waiter.join();
  pthread_mutex_lock(&all.mutex);
  for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
    const timespec until = in_ms(clock, 20);
    int status = 0;
    while (status == 0)
      status = clock == CLOCK_REALTIME ? pthread_cond_timedwait(&all.condition, &all.mutex, &until)
                                       : pthread_cond_clockwait(&all.condition, &all.mutex, clock, &until);
    EXPECT_EQ(status, ETIMEDOUT);
    EXPECT_TRUE(has_come(clock, until));
  }
  pthread_mutex_unlock(&all.mutex);
  EXPECT_EQ(pthread_cond_destroy(&all.condition), 0);
}

TEST(condition, with_robust_mutex) {
  scene all;
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  ASSERT_EQ(pthread_mutex_init(&all.mutex, &kind), 0);
  std::thread waiter([&] {
    pthread_mutex_lock(&all.mutex);
    ++all.waiting;
    int status = 0;
    while (all.tokens == 0 && status == 0) status = pthread_cond_wait(&all.condition, &all.mutex);
    EXPECT_EQ(status, EOWNERDEAD);
    pthread_mutex_consistent(&all.mutex);
    pthread_mutex_unlock(&all.mutex);
  });
  all.await(&scene::waiting, 1);
  std::thread([&] {
    pthread_mutex_lock(&all.mutex);
    ++all.tokens;
    pthread_cond_signal(&all.condition);
  }).join();  // dies with the mutex
  waiter.join();
}

}  // namespace
