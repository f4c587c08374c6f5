// SPDX-License-Identifier: Apache-2.0
// Exclusion that a race detector does not see. The scripted machine's locks for its own state must not order the code
// under test, because that would hide missing synchronization in it.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include <txsync/machine/race_detector.hpp>

#ifdef TXSYNC_RACE_DETECTOR
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace txsync::TXSYNC_INLINE_BACKEND::script {

/// Admits one thread at a time. Waiters sleep.
class unseen_turn {
 public:
  void take() noexcept {
    fence();  // the next thread that takes the turn sees what this one has stored
    std::uint32_t seen = unused;
    // relaxed, here and below: the fences order, but a race detector does not know fences
    if (!state_.compare_exchange_strong(seen, used, std::memory_order_relaxed)) {
      while (state_.exchange(waited_for, std::memory_order_relaxed) != unused) call(FUTEX_WAIT_PRIVATE, waited_for);
    }
    fence();
  }
  void give() noexcept {
    fence();
    if (state_.exchange(unused, std::memory_order_relaxed) == waited_for) call(FUTEX_WAKE_PRIVATE, 1);
  }

 private:
  static constexpr std::uint32_t unused = 0;
  static constexpr std::uint32_t used = 1;
  static constexpr std::uint32_t waited_for = 2;
  static void fence() noexcept { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
  void call(int operation, std::uint32_t value) noexcept {
    const int saved_errno = errno;
    syscall(SYS_futex, &state_, operation, value, nullptr, nullptr, 0);
    errno = saved_errno;
  }
  std::atomic<std::uint32_t> state_{unused};
};

/// Lockable. A race detector also ignores what a thread does while it holds the mutex.
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

}  // namespace txsync::TXSYNC_INLINE_BACKEND::script
