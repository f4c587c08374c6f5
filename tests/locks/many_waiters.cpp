// SPDX-License-Identifier: Apache-2.0
// Thousands of threads wait at one lock, with and without deadlines, or at one condition variable. All get through, and
// their wait costs at most a generous multiple of the CPU time that the standard's costs in the same run.
#include <gtest/gtest.h>

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <txsync/condition_variable.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/shared_mutex.hpp>

#include "harness/budget.hpp"

namespace {

using namespace conformance;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Threads with small stacks that run body(): as many as asked for, or as the system lets start.
template <class Body>
class crowd_of_threads {
 public:
  crowd_of_threads(unsigned count, Body body) : body_(body) {
    constexpr std::size_t stack_bytes = 64 << 10;
    pthread_attr_t small;
    pthread_attr_init(&small);
    if (!under_tsan && !under_asan) pthread_attr_setstacksize(&small, stack_bytes);
    const auto run = [](void* self) -> void* {
      static_cast<crowd_of_threads*>(self)->body_();
      return nullptr;
    };
    threads_.reserve(count);
    for (pthread_t one; threads_.size() < count && pthread_create(&one, &small, run, this) == 0;)
      threads_.push_back(one);
    pthread_attr_destroy(&small);
  }
  crowd_of_threads(const crowd_of_threads&) = delete;
  crowd_of_threads& operator=(const crowd_of_threads&) = delete;
  unsigned size() const { return static_cast<unsigned>(threads_.size()); }
  void join() {
    for (const pthread_t one : threads_) pthread_join(one, nullptr);
  }

 private:
  Body body_;
  std::vector<pthread_t> threads_;
};

/// A line of a futex_mutex holds 4,095.
unsigned crowd_size() {
  if (full_budget()) return under_tsan || maybe_emulated ? 1'000 : 10'000;  // ThreadSanitizer has some 8,000 threads
  return under_tsan || under_asan || maybe_emulated ? 100 : 1'000;
}

void wait_for(const std::atomic<unsigned>& count, unsigned wanted) {
  while (count != wanted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the last ones fall asleep
}

struct outcome {
  unsigned threads;
  unsigned came_through;
  double cpu_s;
};

template <class Mutex>
outcome crowd_at_a_mutex() {
  const double before = cpu_seconds();
  Mutex lock;
  std::atomic<unsigned> started{0};
  unsigned count = 0;  // guarded by the lock
  lock.lock();
  crowd_of_threads all(crowd_size(), [&] {
    ++started;
    const std::lock_guard held(lock);
    ++count;
  });
  wait_for(started, all.size());
  lock.unlock();
  all.join();
  return {all.size(), count, cpu_seconds() - before};
}

template <class Mutex, class Condition>
outcome crowd_at_a_condition() {
  const double before = cpu_seconds();
  Mutex lock;
  Condition changed;
  std::atomic<unsigned> started{0};
  bool told = false;   // guarded by the lock
  unsigned count = 0;  // likewise
  crowd_of_threads all(crowd_size(), [&] {
    std::unique_lock held(lock);
    ++started;
    changed.wait(held, [&] { return told; });
    ++count;
  });
  wait_for(started, all.size());
  {
    const std::lock_guard held(lock);
    told = true;
    changed.notify_all();
  }
  all.join();
  return {all.size(), count, cpu_seconds() - before};
}

/// Both started the same number of threads, whose start is a good part of the time.
void expect_all_for_little(const outcome& ours, const outcome& standards) {
  constexpr double factor = 20;
  constexpr double min_s = 1;  // below it nothing is said
  EXPECT_GE(ours.threads, 50u);
  EXPECT_EQ(ours.came_through, ours.threads);
  EXPECT_EQ(standards.came_through, standards.threads);
  EXPECT_LT(ours.cpu_s, factor * standards.cpu_s + min_s);
  testing::Test::RecordProperty("threads", static_cast<int>(ours.threads));
  testing::Test::RecordProperty("cpu_ms", static_cast<int>(1e3 * ours.cpu_s));
  testing::Test::RecordProperty("cpu_ms_of_the_standards", static_cast<int>(1e3 * standards.cpu_s));
}

/// How the threads ask for the lock, with a deadline that nobody reaches.
template <class Timed>
struct with_deadlines : Timed {
  void lock() {
    // Not try_lock_for(): GCC 12's ThreadSanitizer does not know what libstdc++ calls for the steady clock.
    while (!Timed::try_lock_until(std::chrono::system_clock::now() + std::chrono::seconds(100))) {
    }
  }
};
TEST(ManyWaiters, AtAMutexAllGetIn) {
  const outcome standards = crowd_at_a_mutex<std::mutex>();
  expect_all_for_little(crowd_at_a_mutex<txsync::mutex>(), standards);
}

TEST(ManyWaiters, WithDeadlinesAllGetIn) {
  const outcome standards = crowd_at_a_mutex<with_deadlines<std::timed_mutex>>();
  expect_all_for_little(crowd_at_a_mutex<with_deadlines<txsync::mutex>>(), standards);
}

TEST(ManyWaiters, AtAReaderWriterLockAllGetIn) {
  const outcome standards = crowd_at_a_mutex<std::shared_mutex>();
  expect_all_for_little(crowd_at_a_mutex<txsync::futex_rwlock>(), standards);
  expect_all_for_little(crowd_at_a_mutex<txsync::shared_mutex>(), standards);
}

TEST(ManyWaiters, AtAConditionVariableAllAreTold) {
  const outcome standards = crowd_at_a_condition<std::mutex, std::condition_variable>();
  expect_all_for_little(crowd_at_a_condition<txsync::mutex, txsync::condition_variable>(), standards);
}

}  // namespace
