// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include <txsync/locks/pastime.hpp>
#include <txsync/machine/attempt.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// The system's mutex (pthread_mutex_t, default kind) in the shape of the other locks: the yardstick, and the lock of
/// the papers' POSIX curves. Fairness, cost, errors: the C library's. Lockable. Constant-initialised.
class posix_mutex {
 public:
  constexpr posix_mutex() noexcept = default;
  posix_mutex(const posix_mutex&) = delete;
  posix_mutex& operator=(const posix_mutex&) = delete;

  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  /// A waiter does `meanwhile`, and tries in between, before it waits (always-abort paper, Fig 3). False: it has not
  /// got the lock, but is in an always-abort attempt. Whether the wait is over is not to be seen from outside.
  bool lock(pastime& meanwhile) noexcept {
    const auto never = [](const void*, std::uint64_t) noexcept { return false; };
    while (!try_lock()) {
      const pastime::spent spent = meanwhile.spend({never, this, 0, 1});
      if (spent == pastime::spent::inside_attempt) return false;
      if (spent == pastime::spent::nothing) {
        lock();
        break;
      }
    }
    return true;
  }
  [[nodiscard]] bool try_lock() noexcept { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"  // the C library's macro has some
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
#pragma GCC diagnostic pop
};

/// The same with a word that says whether it is held, for elision and for telling double unlocks, which the C library's
/// type does not say. Cost: two stores more; where hardware transactions work a read-modify-write. 48 bytes or so.
class posix_mutex_with_word {
 public:
  constexpr posix_mutex_with_word() noexcept = default;
  posix_mutex_with_word(const posix_mutex_with_word&) = delete;
  posix_mutex_with_word& operator=(const posix_mutex_with_word&) = delete;

  void lock() noexcept {
    mutex_.lock();
    say_held();
  }
  [[nodiscard]] bool try_lock() noexcept {
    if (!mutex_.try_lock()) return false;
    say_held();
    return true;
  }
  void unlock() noexcept {
    held_.store(0, std::memory_order_release);  // an attempt that sees it free sees what the section has written
    mutex_.unlock();
  }
  /// Whether somebody holds it, at some moment of the call.
  // relaxed: an attempt's read is ordered by the attempt, and everybody else decides nothing by it
  bool is_held() const noexcept { return held_.load(std::memory_order_relaxed) != 0; }

 private:
  void say_held() noexcept {
    // A full fence: what the section reads, it reads when attempts that have seen the lock free are no more.
    if (machine::attempts_work()) {
      held_.exchange(1, std::memory_order_seq_cst);
    } else {
      held_.store(1, std::memory_order_relaxed);  // relaxed: read back by its holder, for others a hint
    }
  }

  posix_mutex mutex_;
  std::atomic<std::uint32_t> held_{0};
};

}  // namespace txsync::inline TXSYNC_BACKEND
