// SPDX-License-Identifier: Apache-2.0
// Exclusion that a race detector does not see. What the scripted machine needs for its own state must not order what
// the code under test does: it would hide where that code forgets to.
#pragma once

#include <sched.h>

#include <atomic>

#include <txsync/machine/race_detector.hpp>

#ifdef TXSYNC_RACE_DETECTOR
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace txsync::inline TXSYNC_BACKEND::script {

/// One thread at a time. Waiters give way to other threads.
class unseen_turn {
 public:
  void take() noexcept {
    fence();  // what the thread has stored before is seen by whoever has the turn next
    bool expected = false;
    // relaxed, here and below: the fences order, and a race detector does not look at those
    while (!taken_.compare_exchange_weak(expected, true, std::memory_order_relaxed)) {
      expected = false;
      sched_yield();
    }
    fence();
  }
  void give() noexcept {
    fence();
    taken_.store(false, std::memory_order_relaxed);
  }

 private:
  static void fence() noexcept { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
  std::atomic<bool> taken_{false};
};

/// Lockable. What a thread does while it holds it, a race detector does not look at either.
class unseen_mutex {
 public:
  void lock() noexcept {
    turn_.take();
#ifdef TXSYNC_RACE_DETECTOR
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
  }
  void unlock() noexcept {
#ifdef TXSYNC_RACE_DETECTOR
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
    turn_.give();
  }

 private:
  unseen_turn turn_;
};

}  // namespace txsync::inline TXSYNC_BACKEND::script
