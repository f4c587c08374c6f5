// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/timed.hpp>
#include <txsync/machine/thread_annotations.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// A spin lock that starves no thread: a futex_mutex whose waiters spin three times as long before they stand in line.
///
/// What it does: waiters read the word in a loop, as those of tatas_lock. After some 25 us they stand in line, where a
/// bound holds (see futex_mutex).
/// Fairness: as futex_mutex: bypass_bound(threads) critical sections, whatever the clock does. It counts as many
/// waiters as futex_mutex does.
/// Use it for: short sections, if a sleep costs more than the wait. Do not use it for: sections that block (mutex).
/// Cost: as futex_mutex. A waiter uses up to 25 us of CPU time between two sleeps.
/// Named requirements: TimedLockable. Thread-safe; not recursive; constant-initialised; all bits zero is an unlocked
/// lock; 8 bytes.
class TXSYNC_CAPABILITY("mutex") spinning_mutex : public detail::timed<spinning_mutex> {
 public:
  constexpr spinning_mutex() noexcept = default;
  spinning_mutex(const spinning_mutex&) = delete;
  spinning_mutex& operator=(const spinning_mutex&) = delete;

  static constexpr std::uint64_t bypass_bound(std::uint64_t threads) noexcept {
    return futex_mutex::bypass_bound(threads);
  }

  void lock() noexcept TXSYNC_LOCKS {
    if (!core_.acquire_if_free()) [[unlikely]]
      core_.lock_slow(machine::no_deadline, futex_mutex::waits::spinning);
  }
  /// A waiter runs `task` before it spins. Returns false if the thread does not have the lock but is
  /// in an always-abort attempt.
  bool lock(wait_task& task) noexcept TXSYNC_TRY_LOCKS {
    return core_.acquire_if_free() || core_.lock_slow(task, futex_mutex::waits::spinning);
  }
  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS { return core_.try_lock(); }
  /// Tries until machine::clock_ns() reaches the deadline.
  [[nodiscard]] bool try_lock_until_ns(std::uint64_t deadline) noexcept TXSYNC_TRY_LOCKS {
    return core_.acquire_if_free() || core_.lock_slow(deadline, futex_mutex::waits::spinning);
  }
  /// Requires: the calling thread holds the lock.
  void unlock() noexcept TXSYNC_UNLOCKS { core_.unlock(); }
  /// As futex_mutex::unlock_fair().
  void unlock_fair() noexcept TXSYNC_UNLOCKS { core_.unlock_fair(); }
  bool is_held() const noexcept { return core_.is_held(); }
  bool is_waited_for() const noexcept { return core_.is_waited_for(); }
  /// For tests, as that of futex_mutex.
  void count_more_turns(std::uint32_t turns) noexcept { core_.count_more_turns(turns); }

 private:
  futex_mutex core_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
