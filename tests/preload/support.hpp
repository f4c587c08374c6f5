// SPDX-License-Identifier: Apache-2.0
// What the tests of unmodified programs share. Nothing here or in them knows txsync.
#pragma once

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace preload_tests {

/// A program that hangs is ended, and so are its children, which inherit nothing of it but have one of their own.
inline const unsigned watchdog = alarm(100);

inline bool under_preload() {
  const char* const libraries = getenv("LD_PRELOAD");
  return libraries != nullptr && std::strstr(libraries, "txsync") != nullptr;
}

inline timespec now_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now;
}
inline timespec in_ms(clockid_t clock, long ms) {
  timespec time = now_on(clock);
  time.tv_sec += ms / 1000;
  time.tv_nsec += ms % 1000 * 1'000'000;
  if (time.tv_nsec >= 1'000'000'000) {
    ++time.tv_sec;
    time.tv_nsec -= 1'000'000'000;
  }
  return time;
}
inline bool has_come(clockid_t clock, const timespec& time) {
  const timespec now = now_on(clock);
  return now.tv_sec > time.tv_sec || (now.tv_sec == time.tv_sec && now.tv_nsec >= time.tv_nsec);
}
inline void sleep_ms(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

/// Runs `body(index)` on that many threads and joins them.
inline void on_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

/// Runs `body` in a child, which has 30 seconds; true when it answered true.
inline pid_t start_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(body() ? 0 : 1);
  }
  return child;
}
inline bool child_succeeded(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
inline bool in_child(const std::function<bool()>& body) { return child_succeeded(start_child(body)); }

/// A T, all zero, in memory that children share.
template <class T>
T& shared_memory() {
  void* const address = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) std::abort();
  return *new (address) T;
}

/// A mutex of that type.
class typed_mutex {
 public:
  explicit typed_mutex(int type) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    EXPECT_EQ(pthread_mutexattr_settype(&attributes, type), 0);
    EXPECT_EQ(pthread_mutex_init(&mutex_, &attributes), 0);
    pthread_mutexattr_destroy(&attributes);
  }
  ~typed_mutex() { EXPECT_EQ(pthread_mutex_destroy(&mutex_), 0); }
  typed_mutex(const typed_mutex&) = delete;
  typed_mutex& operator=(const typed_mutex&) = delete;
  pthread_mutex_t* get() { return &mutex_; }

 private:
  pthread_mutex_t mutex_;
};

inline int elsewhere(const std::function<int()>& body) {
  int result = -1;
  std::thread([&] { result = body(); }).join();
  return result;
}

}  // namespace preload_tests
