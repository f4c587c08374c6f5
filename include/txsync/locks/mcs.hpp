// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/concurrency_limiter.hpp>
#include <txsync/locks/wait_task.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/machine/thread_annotations.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace detail {

/// The queue of Mellor-Crummey and Scott (TOCS 1991), which both MCS locks share. Each waiter spins on its own node.
class TXSYNC_CAPABILITY("mutex") mcs_queue {
 public:
  struct alignas(64) node {
    std::atomic<node*> next{this};  ///< itself while the node has no turn, as unlock_if_held() leaves it
    std::atomic<bool> waiting{false};
  };

  constexpr mcs_queue() noexcept = default;

  /// Returns false as fifo_mcs_lock::lock(node&, wait_task&) does.
  [[gnu::always_inline]] bool lock(node& mine, wait_task* task = nullptr) noexcept TXSYNC_TRY_LOCKS {
    begin_turn(mine);
    return lock_begun(mine, task);
  }
  static void begin_turn(node& mine) noexcept {
    mine.next.store(nullptr, std::memory_order_relaxed);  // relaxed: the exchange in lock_begun() publishes it
  }
  static void end_turn(node& mine) noexcept {
    mine.next.store(&mine, std::memory_order_relaxed);  // relaxed: a node out of the queue is the calling thread's own
  }
  /// The second step of lock(), after begin_turn().
  [[gnu::always_inline]] bool lock_begun(node& mine, wait_task* task = nullptr) noexcept TXSYNC_TRY_LOCKS {
    if (machine::is_forked()) [[unlikely]]
      return lock_in_child(mine, task);
    // acquire pairs with the release in unlock() of a free lock; release publishes the node to the successor
    node* const ahead = tail_.exchange(&mine, std::memory_order_acq_rel);
    return ahead == nullptr || wait_behind(*ahead, mine, task);
  }
  bool try_lock(node& mine) noexcept TXSYNC_TRY_LOCKS {
    // relaxed: a look only
    if (tail_.load(std::memory_order_relaxed) != nullptr) return false;
    begin_turn(mine);
    node* expected = nullptr;
    // acq_rel: as in lock()
    if (tail_.compare_exchange_strong(expected, &mine, std::memory_order_acq_rel, std::memory_order_relaxed))
      return true;
    end_turn(mine);
    return false;
  }
  [[gnu::always_inline]] void unlock(node& mine) noexcept TXSYNC_UNLOCKS {
    TXSYNC_ASSERT(may_be_unlocked(mine), "the calling thread holds the lock with this node");
    (void)leave<false>(mine);
  }
  /// Returns false and does nothing if no thread holds it, or if the node has no turn.
  [[gnu::always_inline]] bool unlock_if_held(node& mine) noexcept TXSYNC_UNLOCKS { return leave<true>(mine); }
  /// False: unlock_if_held(mine) would do nothing.
  bool may_be_unlocked(const node& mine) const noexcept {
    // relaxed: as in end_turn()
    return mine.next.load(std::memory_order_relaxed) != &mine && is_held();
  }
  // relaxed: an attempt orders the reads in it, and other callers decide nothing by it
  bool is_held() const noexcept { return tail_.load(std::memory_order_relaxed) != nullptr; }
  /// As those of ticket_queue. Returns `got`.
  bool note_turn_if(bool got) const noexcept;
  void note_end() const noexcept;
  /// Threads in the queue without the lock. seq_cst: passive threads read it (concurrency_limiter.cpp).
  std::uint32_t waiting() const noexcept { return waiting_.load(std::memory_order_seq_cst); }
  /// The active threads: these and the holder.
  std::uint32_t active() const noexcept {
    const std::uint32_t queued = waiting();
    if (queued != 0) [[unlikely]]
      return queued + 1;
    return is_held() ? 1 : 0;
  }

 private:
  template <bool checks>
  [[gnu::always_inline]] bool leave(node& mine) noexcept {
    node* next = mine.next.load(std::memory_order_acquire);  // pairs with the release in wait_behind()
    if (next == nullptr) [[likely]] {
      node* expected = &mine;
      // release pairs with the acquire in lock(); acquire for leave_parents_threads()
      if (tail_.compare_exchange_strong(expected, nullptr, std::memory_order_release, std::memory_order_acquire))
          [[likely]] {
        if (checks) end_turn(mine);
        return true;
      }
      if (checks && expected == nullptr) return false;
    } else if (checks && (next == &mine || !is_held())) {
      return false;  // the node has no turn, or had it elsewhere
    }
    if (leave_parents_threads()) [[unlikely]] {
      if (checks) end_turn(mine);
      return true;
    }
    if (next == nullptr) next = await_successor(mine);
    // seq_cst, and before the successor can be seen to be active: a newcomer counts the waiters without the lock
    // (concurrency_limiter.cpp)
    waiting_.fetch_sub(1, std::memory_order_seq_cst);
    next->waiting.store(false, std::memory_order_release);  // pairs with the acquire in wait_behind()
    if (checks) end_turn(mine);
    return true;
  }
  /// lock_begun() in the child of a fork, whose queue may still be the parent's.
  TXSYNC_EXPORT bool lock_in_child(node& mine, wait_task* task) noexcept;
  TXSYNC_EXPORT bool wait_behind(node& ahead, node& mine, wait_task* task) noexcept;
  bool try_until_made_for(std::uint32_t process, node& mine) noexcept;
  void make_for(std::uint32_t process) noexcept;
  /// For a holder with threads behind it, in the child of a fork. Before the queue is made for the child, these are
  /// threads of the parent: it gives the lock up without them. Otherwise it returns false.
  TXSYNC_EXPORT bool leave_parents_threads() noexcept;
  TXSYNC_EXPORT static node* await_successor(node& mine) noexcept;

  std::atomic<node*> tail_{nullptr};
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<std::uint32_t> made_for_{0};  ///< machine::fork_count() in the process of the queue's threads
};

/// The guard that both locks offer: a node on the stack, and the lock for the length of a scope.
template <class Lock>
class TXSYNC_SCOPED_CAPABILITY node_guard {
 public:
  explicit node_guard(Lock& lock) noexcept TXSYNC_ACQUIRE(lock) TXSYNC_UNCHECKED : lock_(lock) { lock_.lock(node_); }
  ~node_guard() TXSYNC_UNLOCKS { lock_.unlock(node_); }
  node_guard(const node_guard&) = delete;
  node_guard& operator=(const node_guard&) = delete;

 private:
  Lock& lock_;
  typename Lock::node node_;
};

}  // namespace detail

/// A strictly FIFO queue lock: MCS, as published.
///
/// What it does: waiters queue up, each with a node of its own, and spin on it. A hand-over is two line transfers,
/// however many threads wait.
/// Fairness: strictly first come, first served. NOT for more threads than cores (see fifo_ticket_lock).
/// Use it for: many cores, short contended sections, order.
/// Requires: the node lives until unlock(node) has returned. The same node is passed to unlock(). It is used for one
/// lock at a time.
/// Cost: one exchange and one compare-exchange uncontended.
/// In the child of a fork, the thread that held it can unlock and use it: the queue there is empty.
/// The only bound on the number of waiters is the memory for their nodes.
/// Constant-initialised; all bits zero is an unlocked lock; 16 bytes, a node 64.
class TXSYNC_CAPABILITY("mutex") fifo_mcs_lock {
 public:
  using node = detail::mcs_queue::node;
  using guard = detail::node_guard<fifo_mcs_lock>;

  constexpr fifo_mcs_lock() noexcept = default;
  fifo_mcs_lock(const fifo_mcs_lock&) = delete;
  fifo_mcs_lock& operator=(const fifo_mcs_lock&) = delete;

  void lock(node& mine) noexcept TXSYNC_LOCKS { queue_.lock(mine); }
  /// For a type that is built on this one: lock() in two steps. The store of begin_turn() can complete before
  /// lock_begun() needs it. end_turn() undoes begin_turn().
  static void begin_turn(node& mine) noexcept { detail::mcs_queue::begin_turn(mine); }
  static void end_turn(node& mine) noexcept { detail::mcs_queue::end_turn(mine); }
  void lock_begun(node& mine) noexcept TXSYNC_LOCKS { queue_.lock_begun(mine); }
  /// A waiter runs `task` instead of pausing. Returns false if the thread does not have the lock but
  /// is in an always-abort attempt.
  bool lock(node& mine, wait_task& task) noexcept TXSYNC_TRY_LOCKS { return queue_.lock(mine, &task); }
  /// The "attempt" of Shore-MT's mcs lock: acquires the lock only if it is free.
  [[nodiscard]] bool try_lock(node& mine) noexcept TXSYNC_TRY_LOCKS { return queue_.try_lock(mine); }
  /// Requires: the calling thread holds the lock with this node.
  void unlock(node& mine) noexcept TXSYNC_UNLOCKS { queue_.unlock(mine); }
  /// As unlock(). If no thread holds the lock, or all turns of the node have ended, it does nothing and returns false.
  /// Turns of other threads go on. For the second case, this function must have ended all turns of the node. Cost: a
  /// store.
  bool unlock_if_held(node& mine) noexcept TXSYNC_UNLOCKS { return queue_.unlock_if_held(mine); }

  /// Whether a thread holds it, at some moment during the call. A speculative attempt subscribes to this.
  bool is_held() const noexcept { return queue_.is_held(); }

 private:
  detail::mcs_queue queue_;
};

/// A fair queue lock that stays fast with more threads than cores.
///
/// What it does: MCS with a concurrency limiter (concurrency_limiter.hpp). As many waiters as there are CPUs queue up.
/// The others sleep and are called in, the oldest first.
/// Fairness: first come, first served in the active set. With T threads, a thread is passed by at most bypass_bound(T)
/// times.
/// Use it for: contended sections on many cores that need fairness. Do not use it for: CPUs that other programs need,
/// too (see ticket_lock).
/// Requires: as fifo_mcs_lock, for nodes.
/// Cost: as fifo_mcs_lock, plus a few loads of the same line.
/// Children of forks: as fifo_mcs_lock. At most 2^31 threads wait in the queue, and as many in the passive set (Linux
/// has room for 2^22).
/// Constant-initialised; all bits zero is an unlocked lock; 32 bytes, a node 64.
class TXSYNC_CAPABILITY("mutex") mcs_lock {
 public:
  using node = detail::mcs_queue::node;
  using guard = detail::node_guard<mcs_lock>;

  constexpr mcs_lock() noexcept = default;
  mcs_lock(const mcs_lock&) = delete;
  mcs_lock& operator=(const mcs_lock&) = delete;

  static constexpr std::uint64_t bypass_bound(std::uint64_t threads) noexcept {
    return concurrency_limiter::bypass_bound(threads);
  }

  [[gnu::always_inline]] void lock(node& mine) noexcept TXSYNC_LOCKS { lock(mine, nullptr); }
  /// As those of fifo_mcs_lock.
  static void begin_turn(node& mine) noexcept { detail::mcs_queue::begin_turn(mine); }
  static void end_turn(node& mine) noexcept { detail::mcs_queue::end_turn(mine); }
  [[gnu::always_inline]] void lock_begun(node& mine) noexcept TXSYNC_LOCKS { lock_begun(mine, nullptr); }
  /// As fifo_mcs_lock::lock(node&, wait_task&).
  bool lock(node& mine, wait_task& task) noexcept TXSYNC_TRY_LOCKS { return lock(mine, &task); }
  [[nodiscard]] bool try_lock(node& mine) noexcept TXSYNC_TRY_LOCKS { return queue_.try_lock(mine); }
  /// Requires: the calling thread holds the lock with this node.
  [[gnu::always_inline]] void unlock(node& mine) noexcept TXSYNC_UNLOCKS {
    if (limiter_.busy()) [[unlikely]]
      return unlock_limited(mine);
    queue_.unlock(mine);
  }
  /// As fifo_mcs_lock::unlock_if_held().
  [[gnu::always_inline]] bool unlock_if_held(node& mine) noexcept TXSYNC_UNLOCKS {
    if (limiter_.busy()) [[unlikely]]
      return unlock_limited_if_held(mine);
    return queue_.unlock_if_held(mine);
  }

  /// Whether a thread holds it, at some moment during the call. A speculative attempt subscribes to this.
  bool is_held() const noexcept { return queue_.is_held(); }

 private:
  [[gnu::always_inline]] bool lock(node& mine, wait_task* task) noexcept TXSYNC_TRY_LOCKS {
    begin_turn(mine);
    return lock_begun(mine, task);
  }
  [[gnu::always_inline]] bool lock_begun(node& mine, wait_task* task) noexcept TXSYNC_TRY_LOCKS {
    if (!limiter_.admits(queue_.active())) [[unlikely]]
      return lock_limited(mine, task);
    return queue_.lock_begun(mine, task);
  }
  TXSYNC_EXPORT bool lock_limited(node& mine, wait_task* task) noexcept;
  bool lock_in_queue(node& mine, wait_task* task) noexcept;
  TXSYNC_EXPORT void unlock_limited(node& mine) noexcept;
  TXSYNC_EXPORT bool unlock_limited_if_held(node& mine) noexcept;
  concurrency_limiter::others other_active() const noexcept;

  detail::mcs_queue queue_;
  concurrency_limiter limiter_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
