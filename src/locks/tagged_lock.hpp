// SPDX-License-Identifier: Apache-2.0
// How a lock is taken and given up whose algorithm is a value: the one switch over the algorithms, for policy_mutex and
// for the preloaded library. A lock of either has room for the same parts, at places of its own.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/locks/admission.hpp>
#include <txsync/locks/lock_words.hpp>
#include <txsync/locks/pastime.hpp>
#include <txsync/machine/park.hpp>

#include "left_tickets.hpp"
#include "policy/packed.hpp"

namespace txsync::inline TXSYNC_BACKEND::detail {

/// What a site's policy names. `libc` where it says so, which is a pthread lock's only.
algorithm algorithm_of(policy::lock_kind kind) noexcept;

/// Whether threads draw tickets.
constexpr bool has_queue(algorithm how) noexcept { return how == algorithm::ticket || how == algorithm::fifo_ticket; }
/// Whether it counts its waiters, those of a fork's parent among them. Such a lock has a mark, and its callers say
/// which process they are.
constexpr bool counts_waiters(algorithm how) noexcept { return has_queue(how) || how == algorithm::priority_tatas; }

/// How it is seen that words are a lock that somebody holds.
using held_look = bool (*)(const void* words) noexcept;
held_look held_as(algorithm how) noexcept;

/// Whether other processes may have the lock at `words`, too. Null: none do, but parents before a fork.
using shared_look = bool (*)(const void* words) noexcept;

/// Who waits for a lock, and for how long.
struct lock_waiter {
  std::uint16_t here = 0;  ///< the mark of the calling process; of a lock that counts_waiters()
  std::uint64_t deadline = machine::no_deadline;
  pastime* meanwhile = nullptr;  ///< what it does while it waits; where there is no deadline
  shared_look is_shared = nullptr;
  may_leave ask = {};  ///< of a lock that other processes may have
};

/// A lock by its parts: words, mark and door. The mark says which process had the lock last: 15 bits that differ
/// between a process and its parents, never 0; 0 where nobody has had it yet. It is that of a lock that
/// counts_waiters(), the door that of `ticket`.
///
/// In the child of a fork, threads of the parent are counted as waiters, and do not exist. So a thread only tries to
/// take a lock whose mark is another's. The first that gets it forgets those outside the door, or those that are ready,
/// and leaves its own mark (settle()); from then on threads wait as they do. Who held it over the fork gives up an
/// empty queue.
class tagged_lock {
 public:
  using mark_word = std::atomic<std::uint16_t>;
  tagged_lock(lock_words& words, mark_word& mark, admission& door) noexcept : words_(words), mark_(mark), door_(door) {}

  /// Of the mark: processes of several marks have had it.
  static constexpr std::uint16_t of_several = 1u << 15;

  /// `here()` answers the mark of the calling process.
  template <class Mark>
  [[nodiscard]] bool try_acquire(algorithm how, Mark here) noexcept {
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

  /// After try_acquire() has failed. False: the deadline has passed; or, of a waiter that does something meanwhile, the
  /// caller is in an always-abort attempt.
  [[nodiscard]] bool acquire(algorithm how, const lock_waiter& who) noexcept;

  /// By the owner of a lock that counts_waiters(), as soon as it is. A fence is behind the change of the mark.
  void settle(algorithm how, std::uint16_t here, shared_look is_shared = nullptr) noexcept {
    // relaxed: ordered by the lock
    if (process_of(mark_.load(std::memory_order_relaxed)) != here) [[unlikely]]
      become_of(how, here, is_shared);
  }

  /// By the owner. The lock may be gone once it is free. `here`: of a lock that has_queue().
  void release(algorithm how, std::uint16_t here) noexcept {
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
  /// A thread of another process has had the lock last: of a parent, whose threads in its queue or outside its door do
  /// not exist here; or of a process that uses the same memory, whose queue this is as long as its threads are in it.
  /// Or nobody has had it, and it is not known whose queue it will be.
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
  admission& door_;
};

}  // namespace txsync::inline TXSYNC_BACKEND::detail
