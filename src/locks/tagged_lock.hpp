// SPDX-License-Identifier: Apache-2.0
// How a lock is taken and given up whose algorithm is a value: the one switch over the algorithms. policy_mutex and the
// preloaded library use it. Locks of both have room for the same parts, but at places of their own.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/locks/concurrency_limiter.hpp>
#include <txsync/locks/lock_words.hpp>
#include <txsync/locks/wait_task.hpp>
#include <txsync/machine/park.hpp>

#include "left_tickets.hpp"
#include "policy/packed.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

/// The algorithm that a site's policy names. `libc` only if the policy says so, which is only for pthread locks.
algorithm algorithm_of(policy::lock_kind kind) noexcept;

/// Whether threads draw tickets.
constexpr bool has_queue(algorithm how) noexcept { return how == algorithm::ticket || how == algorithm::fifo_ticket; }
/// Whether the lock counts its waiters, including those of a fork's parent. Such a lock has a mark, and its callers say
/// which process they are.
constexpr bool counts_waiters(algorithm how) noexcept { return has_queue(how) || how == algorithm::priority_tatas; }

/// How to tell whether the words are a lock that somebody holds.
using held_look = bool (*)(const void* words) noexcept;
held_look held_as(algorithm how) noexcept;

/// Whether other processes may use the lock at `words`, too. Null: none do, except parents before a fork.
using shared_look = bool (*)(const void* words) noexcept;

/// Who waits for a lock, and for how long.
struct lock_waiter {
  std::uint16_t here = 0;  ///< the mark of the calling process, for a lock that counts_waiters()
  std::uint64_t deadline = machine::no_deadline;
  wait_task* task = nullptr;  ///< the wait task, if there is no deadline
  shared_look is_shared = nullptr;
  may_leave ask = {};  ///< for a lock that other processes may use
};

/// A lock by its parts: words, mark and concurrency limiter (`limiter`). The mark says which process had the lock last.
/// It has 15 bits that differ between a process and its parents and are never 0; 0 means that nobody has had the lock
/// yet. A lock that counts_waiters() has a mark, and `ticket` has a limiter.
///
/// In the child of a fork, threads of the parent are counted as waiters and do not exist. So a thread only tries to
/// take a lock whose mark is another process's. The first thread that gets it forgets the ready threads and sets its own
/// mark (settle()). From then on threads wait as usual. The concurrency limiter calls the parent's passive threads in. A
/// thread that held the lock over the fork gives up an empty queue.
class tagged_lock {
 public:
  using mark_word = std::atomic<std::uint16_t>;
  tagged_lock(lock_words& words, mark_word& mark, concurrency_limiter& limiter) noexcept
      : words_(words), mark_(mark), limiter_(limiter) {}

  /// A bit of the mark: processes with different marks have had the lock.
  static constexpr std::uint16_t of_several = 1u << 15;

  /// `here()` returns the mark of the calling process.
  template <class Mark>
  [[nodiscard]] bool try_acquire(algorithm how, Mark here) noexcept TXSYNC_UNCHECKED {
    switch (how) {
      case algorithm::tatas:
        return words_.tatas.try_lock();
      case algorithm::priority_tatas:
        return words_.priority.try_lock() || (is_of_another(here()) && words_.priority.try_lock_past_ready());
      case algorithm::ticket:
      case algorithm::fifo_ticket:
        return words_.queue.draw_if_served();
      default:
        return words_.futex.try_lock();
    }
  }

  /// Whether lock() has to call acquire() without a try. A try would pass by a thread that has waited for long.
  bool keeps_newcomers_out(algorithm how) const noexcept {
    return how == algorithm::ticket && limiter_.keeps_newcomers_out();
  }

  /// To be called after try_acquire() has failed, or because of keeps_newcomers_out(). False: the deadline has passed, or
  /// a waiter with a wait task is in an always-abort attempt.
  [[nodiscard]] bool acquire(algorithm how, const lock_waiter& who) noexcept;

  /// To be called by the new owner of a lock that counts_waiters(), at once. A fence follows the change of the mark.
  void settle(algorithm how, std::uint16_t here, shared_look is_shared = nullptr) noexcept {
    // relaxed: ordered by the lock
    if (process_of(mark_.load(std::memory_order_relaxed)) != here) [[unlikely]]
      become_of(how, here, is_shared);
  }

  /// By the owner. The lock may be gone once it is free. `here`: for a lock that has_queue().
  void release(algorithm how, std::uint16_t here) noexcept TXSYNC_UNCHECKED {
    switch (how) {
      case algorithm::tatas:
        return words_.tatas.unlock();
      case algorithm::priority_tatas:
        return words_.priority.unlock();
      case algorithm::ticket:
      case algorithm::fifo_ticket:
        return release_queue(how, here);
      default:
        return words_.futex.unlock();
    }
  }

 private:
  static constexpr std::uint16_t process_of(std::uint16_t mark) noexcept { return mark & (of_several - 1); }
  /// A thread of another process has had the lock last, or nobody has had it. There are three cases:
  ///  - A thread of a parent. Its threads in the queue or in the passive set do not exist here.
  ///  - A process that uses the same memory. The queue is that process's as long as its threads are in it.
  ///  - Nobody. It is not known yet whose queue it will be.
  bool is_of_another(std::uint16_t here) const noexcept {
    // acquire pairs with the release in become_of()
    return process_of(mark_.load(std::memory_order_acquire)) != here;
  }
  bool is_of_several(const lock_waiter& who) noexcept;
  void become_of(algorithm how, std::uint16_t here, shared_look is_shared) noexcept;
  bool acquire_futex(futex_mutex::waits how, const lock_waiter& who) noexcept;
  bool acquire_tatas(const lock_waiter& who) noexcept;
  bool acquire_priority(const lock_waiter& who) noexcept;
  bool acquire_in_line(algorithm how, const lock_waiter& who) noexcept;
  bool acquire_until(const lock_waiter& who) noexcept;
  bool try_until_settled(algorithm how, std::uint16_t here) noexcept;
  void release_queue(algorithm how, std::uint16_t here) noexcept;

  lock_words& words_;
  mark_word& mark_;
  concurrency_limiter& limiter_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
