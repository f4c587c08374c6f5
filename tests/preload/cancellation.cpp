// SPDX-License-Identifier: Apache-2.0
// Waits on conditions as cancellation points (POSIX 2.9.5), and locks, which are none.
#include <cerrno>

#include "support.hpp"

namespace {

using namespace preload_tests;

pthread_t start(void* (*function)(void*), void* argument) {
  pthread_t thread{};
  EXPECT_EQ(pthread_create(&thread, nullptr, function, argument), 0);
  return thread;
}
void* join(pthread_t thread) {
  void* result = nullptr;
  EXPECT_EQ(pthread_join(thread, &result), 0);
  return result;
}

struct scene {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  int waiting = 0;
  int tokens = 0;
  int taken = 0;
  int cleaned = 0;     // by handlers, with the mutex held
  int destructed = 0;  // by C++ destructors
  bool timed = false;
  bool disabled = false;
  std::atomic<bool> ready{false};
  std::atomic<bool> go{false};

  void await_waiter() {
    for (;;) {
      pthread_mutex_lock(&mutex);
      const bool there = waiting > 0;
      pthread_mutex_unlock(&mutex);
      if (there) return;
      sleep_ms(1);
    }
  }
};

void unlock_in_handler(void* raw) {
  auto& all = *static_cast<scene*>(raw);
  // A handler runs with the mutex held.
  EXPECT_EQ(pthread_mutex_trylock(&all.mutex), EBUSY);
  EXPECT_EQ(elsewhere([&] { return pthread_mutex_trylock(&all.mutex); }), EBUSY);
  ++all.cleaned;
  pthread_mutex_unlock(&all.mutex);
}

struct counts_its_end {
  explicit counts_its_end(scene& its_scene) : all(its_scene) {}
  ~counts_its_end() { ++all.destructed; }
  scene& all;
};

void* wait_for_token(void* raw) {
  auto& all = *static_cast<scene*>(raw);
  if (all.disabled) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  all.ready = true;
  while (!all.go) sched_yield();
  pthread_mutex_lock(&all.mutex);
  pthread_cleanup_push(unlock_in_handler, raw);
  {
    const counts_its_end local(all);
    ++all.waiting;
    const timespec until = in_ms(CLOCK_REALTIME, 20'000);
    while (all.tokens == 0) {
      if (all.timed)
        pthread_cond_timedwait(&all.condition, &all.mutex, &until);
      else
        pthread_cond_wait(&all.condition, &all.mutex);
    }
    --all.tokens;
    ++all.taken;
  }
  pthread_cleanup_pop(0);
  pthread_mutex_unlock(&all.mutex);
  return nullptr;
}

void expect_usable(scene& all) {
  EXPECT_EQ(pthread_mutex_trylock(&all.mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&all.mutex), 0);
  EXPECT_EQ(pthread_cond_destroy(&all.condition), 0);
}

TEST(cancellation, while_asleep) {
  for (const bool timed : {false, true}) {
    scene all;
    all.go = true;
    all.timed = timed;
    const pthread_t thread = start(wait_for_token, &all);
    all.await_waiter();
    sleep_ms(20);
    EXPECT_EQ(pthread_cancel(thread), 0);
    EXPECT_EQ(join(thread), PTHREAD_CANCELED);
    EXPECT_EQ(all.cleaned, 1);
    EXPECT_EQ(all.destructed, 1);
    expect_usable(all);
  }
}

TEST(cancellation, pending_at_entry) {
  for (const bool timed : {false, true}) {
    scene all;
    all.timed = timed;
    const pthread_t thread = start(wait_for_token, &all);
    while (!all.ready) sched_yield();
    EXPECT_EQ(pthread_cancel(thread), 0);
    all.go = true;
    EXPECT_EQ(join(thread), PTHREAD_CANCELED);
    EXPECT_EQ(all.cleaned, 1);
    EXPECT_EQ(all.destructed, 1);
    expect_usable(all);
  }
}

TEST(cancellation, disabled) {
  scene all;
  all.go = true;
  all.disabled = true;
  const pthread_t thread = start(wait_for_token, &all);
  all.await_waiter();
  EXPECT_EQ(pthread_cancel(thread), 0);
  sleep_ms(20);
  pthread_mutex_lock(&all.mutex);
  EXPECT_EQ(all.cleaned, 0);
  ++all.tokens;
  pthread_cond_signal(&all.condition);
  pthread_mutex_unlock(&all.mutex);
  EXPECT_EQ(join(thread), nullptr);
  EXPECT_EQ(all.taken, 1);
  expect_usable(all);
}

// The type that a thread has chosen is its own again after a wait.
TEST(cancellation, type_is_left_alone) {
  scene all;
  std::thread([&] {
    for (const int type : {PTHREAD_CANCEL_DEFERRED, PTHREAD_CANCEL_ASYNCHRONOUS}) {
      pthread_setcanceltype(type, nullptr);
      pthread_mutex_lock(&all.mutex);
      const timespec soon = in_ms(CLOCK_REALTIME, 5);
      pthread_cond_timedwait(&all.condition, &all.mutex, &soon);
      pthread_mutex_unlock(&all.mutex);
      int before = -1;
      pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before);
      EXPECT_EQ(before, type);
    }
  }).join();
}

void* lock_and_return(void* raw) {
  auto& all = *static_cast<scene*>(raw);
  all.ready = true;
  while (!all.go) sched_yield();
  pthread_mutex_lock(&all.mutex);  // held by another thread for a while
  ++all.taken;
  pthread_mutex_unlock(&all.mutex);
  const timespec soon = in_ms(CLOCK_REALTIME, 5);
  if (pthread_mutex_timedlock(&all.mutex, &soon) == 0) pthread_mutex_unlock(&all.mutex);
  return raw;
}

TEST(cancellation, locks_are_no_cancellation_points) {
  scene all;
  const pthread_t thread = start(lock_and_return, &all);
  while (!all.ready) sched_yield();
  pthread_cancel(thread);
  pthread_mutex_lock(&all.mutex);
  all.go = true;
  sleep_ms(50);
  pthread_mutex_unlock(&all.mutex);
  EXPECT_EQ(join(thread), &all);
  EXPECT_EQ(all.taken, 1);
}

// Two wait; one token comes while one of them is cancelled: the other, or it, has the token in the end. A signal must
// not be lost with the thread that it woke.
TEST(cancellation, races_with_signals) {
  for (int round = 0; round < 400; ++round) {
    scene all;
    all.go = true;
    all.timed = round % 2 == 1;
    const pthread_t first = start(wait_for_token, &all);
    const pthread_t second = start(wait_for_token, &all);
    for (;;) {
      pthread_mutex_lock(&all.mutex);
      const bool there = all.waiting == 2;
      pthread_mutex_unlock(&all.mutex);
      if (there) break;
      sched_yield();
    }
    std::thread canceller([&] { pthread_cancel(first); });
    pthread_mutex_lock(&all.mutex);
    ++all.tokens;
    if (round % 4 < 2) pthread_cond_signal(&all.condition);
    pthread_mutex_unlock(&all.mutex);
    if (round % 4 >= 2) pthread_cond_signal(&all.condition);
    canceller.join();
    const bool cancelled = join(first) == PTHREAD_CANCELED;
    if (!cancelled) {  // it has the token: one more for the other
      pthread_mutex_lock(&all.mutex);
      ++all.tokens;
      pthread_cond_signal(&all.condition);
      pthread_mutex_unlock(&all.mutex);
    }
    EXPECT_EQ(join(second), nullptr);
    EXPECT_EQ(all.taken, cancelled ? 1 : 2);
    EXPECT_EQ(all.cleaned, cancelled ? 1 : 0);
    EXPECT_EQ(all.destructed, 2);
    expect_usable(all);
  }
}

// The stress of issue A2: waits, timed or not, of many threads; signals and broadcasts; cancellation of some; forks.
// Whoever is cancelled gives no token away, whoever is not takes exactly one.
TEST(cancellation, stress_with_timeouts_and_forks) {
  for (int round = 0; round < 25; ++round) {
    scene all;
    all.go = true;
    constexpr int count = 12;
    std::vector<pthread_t> threads;
    for (int i = 0; i < count; ++i) {
      all.timed = i % 2 == 0;
      all.ready = false;
      threads.push_back(start(wait_for_token, &all));
      while (!all.ready) sched_yield();
    }
    std::thread other([&] {
      for (int i = 0; i < count; i += 3) pthread_cancel(threads[static_cast<std::size_t>(i)]);
    });
    std::thread forks([&] {
      EXPECT_TRUE(in_child([] {
        scene inner;
        inner.go = true;
        const pthread_t thread = start(wait_for_token, &inner);
        inner.await_waiter();
        pthread_mutex_lock(&inner.mutex);
        ++inner.tokens;
        pthread_cond_signal(&inner.condition);
        pthread_mutex_unlock(&inner.mutex);
        return join(thread) == nullptr && inner.taken == 1;
      }));
    });
    for (int i = 0; i < count; ++i) {
      pthread_mutex_lock(&all.mutex);
      ++all.tokens;
      if (i % 4 == 0)
        pthread_cond_broadcast(&all.condition);
      else
        pthread_cond_signal(&all.condition);
      pthread_mutex_unlock(&all.mutex);
    }
    other.join();
    forks.join();
    int cancelled = 0;
    for (const pthread_t thread : threads) cancelled += join(thread) == PTHREAD_CANCELED;
    EXPECT_EQ(all.taken, count - cancelled);
    EXPECT_EQ(all.tokens, cancelled);
    EXPECT_EQ(all.destructed, count);
    expect_usable(all);
  }
}

// A cancelled waiter that a signal had reached does not touch a condition that is destroyed at that moment.
TEST(cancellation, condition_destroyed_by_the_signaller) {
  for (int round = 0; round < 300; ++round) {
    scene all;
    all.go = true;
    const pthread_t thread = start(wait_for_token, &all);
    all.await_waiter();
    std::thread canceller([&] { pthread_cancel(thread); });
    pthread_mutex_lock(&all.mutex);
    ++all.tokens;
    pthread_cond_broadcast(&all.condition);
    EXPECT_EQ(pthread_cond_destroy(&all.condition), 0);
    std::memset(static_cast<void*>(&all.condition), 0xA5, sizeof all.condition);
    pthread_mutex_unlock(&all.mutex);
    canceller.join();
    join(thread);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&all.condition);
    for (std::size_t i = 0; i < sizeof all.condition; ++i) ASSERT_EQ(bytes[i], 0xA5);
  }
}

TEST(cancellation, shared_condition_with_private_mutex) {
  scene all;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ASSERT_EQ(pthread_cond_init(&all.condition, &attributes), 0);
  all.go = true;
  const pthread_t thread = start(wait_for_token, &all);
  all.await_waiter();
  sleep_ms(10);
  pthread_cancel(thread);
  EXPECT_EQ(join(thread), PTHREAD_CANCELED);
  EXPECT_EQ(all.cleaned, 1);
  expect_usable(all);
}

}  // namespace
