// SPDX-License-Identifier: Apache-2.0
// Children of forks that use what the forking thread held, while other threads of the parent waited.
#pragma once

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "budget.hpp"
#include "threads.hpp"

namespace conformance {

inline constexpr int all_is_well = 7;

/// The status of a child that runs body(). One that hangs ends by SIGALRM, and so do its own children; -1: no child.
inline int run_child(std::chrono::milliseconds limit, body_ref<void> body) {
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    const itimerval ends = {{}, {seconds.count(), std::chrono::microseconds(limit - seconds).count()}};
    setitimer(ITIMER_REAL, &ends, nullptr);
    body();
    _exit(all_is_well);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// Whether the child that runs body() comes to its end.
inline testing::AssertionResult child_succeeds(body_ref<void> body) {
  const int status = run_child(std::chrono::seconds(20), body);
  if (WIFEXITED(status) && WEXITSTATUS(status) == all_is_well) return testing::AssertionSuccess();
  const bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  return testing::AssertionFailure() << (hung ? "the child hangs" : "the child failed, status ") << status;
}

/// Whether it does not, within a time in which others do a hundred times.
inline testing::AssertionResult child_hangs(body_ref<void> body) {
  const int status = run_child(std::chrono::milliseconds(150), body);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the child does not hang, status " << status;
}

inline void expect_in_child(bool condition) {
  if (!condition) _exit(1);
}

/// A lock as one type for all: MCS locks have a node for each turn.
template <class Lock>
struct turn {
  Lock& lock;
  void take() { lock.lock(); }
  bool try_take() { return lock.try_lock(); }
  void give_up() { lock.unlock(); }
};
template <class Lock>
  requires requires { typename Lock::node; }
struct turn<Lock> {
  Lock& lock;
  typename Lock::node node{};
  void take() { lock.lock(node); }
  bool try_take() { return lock.try_lock(node); }
  void give_up() { lock.unlock(node); }
};

/// Threads that run body(), and have most probably come as far as they can.
inline std::vector<std::thread> start_waiting(unsigned count, const std::function<void()>& body) {
  std::atomic<unsigned> started{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.push_back(start([&started, body] {
      started.fetch_add(1);
      body();
    }));
  }
  while (started.load() != count) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return threads;
}

/// In the child, which has given up what the forking thread held.
template <class Lock>
void use(Lock& lock) {
  turn<Lock> mine{lock};
  mine.take();
  mine.give_up();
  expect_in_child(mine.try_take());
  mine.give_up();
  constexpr unsigned threads = 3;
  constexpr unsigned rounds = 200;
  if (under_tsan) return;  // starts none in the child of a fork
  unsigned sum = 0;
  run_threads(threads, [&] {
    turn<Lock> own{lock};
    for (unsigned round = 0; round < rounds; ++round) {
      own.take();
      ++sum;
      own.give_up();
    }
  });
  expect_in_child(sum == threads * rounds);
}

/// They do not tell the child of a fork by its memory (MADV_WIPEONFORK), and lose locks of their own in it.
inline constexpr const char* no_forks = "the emulator's forks are not the kernel's";

}  // namespace conformance
