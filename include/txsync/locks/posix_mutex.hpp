// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include <txsync/locks/wait_task.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/thread_annotations.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// The system's mutex (pthread_mutex_t, default kind) with the interface of the other locks. It is the yardstick, and
/// the lock of the papers' POSIX curves. Fairness, cost, errors: as the C library's. Named requirements: Lockable.
/// Constant-initialised.
class TXSYNC_CAPABILITY("mutex") posix_mutex {
 public:
  constexpr posix_mutex() noexcept = default;
  posix_mutex(const posix_mutex&) = delete;
  posix_mutex& operator=(const posix_mutex&) = delete;

  void lock() noexcept TXSYNC_LOCKS { pthread_mutex_lock(&mutex_); }
  /// A waiter runs `task` before it blocks, and tries the lock after each run (always-abort paper,
  /// Fig 3). Returns false if the thread does not have the lock but is in an always-abort attempt. The wait task cannot
  /// see whether the wait is over.
  bool lock(wait_task& task) noexcept TXSYNC_TRY_LOCKS {
    const auto never = [](const void*, std::uint64_t) noexcept { return false; };
    while (!try_lock()) {
      const wait_task::result result = task.run_once({never, this, 0, 1});
      if (result == wait_task::result::in_attempt) return false;
      if (result == wait_task::result::nothing) {
        lock();
        break;
      }
    }
    return true;
  }
  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() noexcept TXSYNC_UNLOCKS { pthread_mutex_unlock(&mutex_); }

 private:
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"  // the C library's macro contains such zeros
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
#pragma GCC diagnostic pop
};

/// The same, with two words that say whether it is held: one for attempts, one for the detection of double unlocks. The
/// C library's type does not tell. Cost: three stores more; if hardware transactions work, a read-modify-write, too. 48
/// bytes or so.
class TXSYNC_CAPABILITY("mutex") posix_mutex_with_word {
 public:
  constexpr posix_mutex_with_word() noexcept = default;
  posix_mutex_with_word(const posix_mutex_with_word&) = delete;
  posix_mutex_with_word& operator=(const posix_mutex_with_word&) = delete;

  void lock() noexcept TXSYNC_LOCKS {
    mutex_.lock();
    say_held();
  }
  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS {
    if (!mutex_.try_lock()) return false;
    say_held();
    return true;
  }
  void unlock() noexcept TXSYNC_UNLOCKS {
    owned_.store(0, std::memory_order_relaxed);  // relaxed: the next one orders
    // release: an attempt that sees it free sees what the section has written
    held_.store(0, std::memory_order_release);
    mutex_.unlock();
  }
  /// As unlock(). If no thread holds the lock, it does nothing and returns false. Cost: a load more.
  bool unlock_if_held() noexcept TXSYNC_UNLOCKS {
    // relaxed: the holder reads what it has written
    if (owned_.load(std::memory_order_relaxed) == 0) [[unlikely]]
      return false;
    unlock();
    return true;
  }
  /// Whether a thread holds it, at some moment during the call.
  // relaxed: an attempt orders the reads in it, and other callers decide nothing by it
  bool is_held() const noexcept {
    return (held_.load(std::memory_order_relaxed) | owned_.load(std::memory_order_relaxed)) != 0;
  }

 private:
  void say_held() noexcept {
    // A full fence: the section reads only after attempts that have seen the lock free have ended.
    if (machine::attempts_work()) held_.exchange(1, std::memory_order_seq_cst);
    owned_.store(1, std::memory_order_relaxed);  // relaxed: read back by its holder, a hint for others
  }

  posix_mutex mutex_;
  std::atomic<std::uint32_t> held_{0};  ///< for attempts
  /// For unlock_if_held(). A load of a word that an atomic instruction has just written takes 4 ns (Emerald Rapids).
  std::atomic<std::uint32_t> owned_{0};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
