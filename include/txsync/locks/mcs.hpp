// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/admission.hpp>
#include <txsync/locks/pastime.hpp>

namespace txsync::inline TXSYNC_BACKEND {

namespace detail {

/// The queue of Mellor-Crummey and Scott (TOCS 1991), which both MCS locks share: each waiter spins on its own node.
class mcs_queue {
 public:
  struct alignas(64) node {
    std::atomic<node*> next{this};  ///< itself: it has no turn, as far as unlock_if_held() has seen to that
    std::atomic<bool> waiting{false};
  };

  constexpr mcs_queue() noexcept = default;

  /// False as in fifo_mcs_lock::lock(node&, pastime&).
  [[gnu::always_inline]] bool lock(node& mine, pastime* meanwhile = nullptr) noexcept {
    begin_turn(mine);
    return lock_begun(mine, meanwhile);
  }
  static void begin_turn(node& mine) noexcept {
    mine.next.store(nullptr, std::memory_order_relaxed);  // relaxed: published by the exchange in lock_begun()
  }
  static void end_turn(node& mine) noexcept {
    mine.next.store(&mine, std::memory_order_relaxed);  // relaxed: out of the queue it is the calling thread's own
  }
  /// lock() behind begin_turn().
  [[gnu::always_inline]] bool lock_begun(node& mine, pastime* meanwhile = nullptr) noexcept {
    node* ahead = nullptr;
    // acquire pairs with the release in unlock() of a free lock, release publishes the node to the successor
    if (tail_.compare_exchange_strong(ahead, &mine, std::memory_order_acq_rel, std::memory_order_relaxed)) [[likely]]
      return true;
    return wait_in_line(mine, meanwhile);
  }
  bool try_lock(node& mine) noexcept {
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
  [[gnu::always_inline]] void unlock(node& mine) noexcept { (void)leave<false>(mine); }
  /// False, and nothing done, where nobody holds it, or the node has no turn.
  [[gnu::always_inline]] bool unlock_if_held(node& mine) noexcept { return leave<true>(mine); }
  /// False: unlock_if_held(mine) would do nothing.
  bool may_be_unlocked(const node& mine) const noexcept {
    // relaxed: as in end_turn()
    return mine.next.load(std::memory_order_relaxed) != &mine && is_held();
  }
  // relaxed: an attempt's read is ordered by the attempt, and everybody else decides nothing by it
  bool is_held() const noexcept { return tail_.load(std::memory_order_relaxed) != nullptr; }
  /// As ticket_queue's. Answers what it was given.
  bool note_turn_if(bool got) const noexcept;
  void note_end() const noexcept;
  /// Threads in the queue without the lock. seq_cst: read by threads outside the door (admission.cpp).
  std::uint32_t waiting() const noexcept { return waiting_.load(std::memory_order_seq_cst); }
  /// With the holder.
  std::uint32_t inside() const noexcept {
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
    // seq_cst, and before the successor can be seen inside: what a newcomer counts is waiters without the lock
    // (admission.cpp)
    waiting_.fetch_sub(1, std::memory_order_seq_cst);
    next->waiting.store(false, std::memory_order_release);  // pairs with the acquire in wait_behind()
    if (checks) end_turn(mine);
    return true;
  }
  TXSYNC_EXPORT bool wait_in_line(node& mine, pastime* meanwhile) noexcept;
  bool wait_behind(node& ahead, node& mine, pastime* meanwhile) noexcept;
  bool try_until_made_for(std::uint32_t process, node& mine) noexcept;
  void make_for(std::uint32_t process) noexcept;
  /// By the holder behind which others are, in the child of a fork: threads of the parent, before the queue is made for
  /// the child. Gives the lock up without them, or false.
  TXSYNC_EXPORT bool leave_parents_threads() noexcept;
  TXSYNC_EXPORT static node* await_successor(node& mine) noexcept;

  std::atomic<node*> tail_{nullptr};
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<std::uint32_t> made_for_{0};  ///< of those in the queue: machine::fork_count() in their process
};

/// The guard that both locks offer: a node on the stack for the length of a scope.
template <class Lock>
class node_guard {
 public:
  explicit node_guard(Lock& lock) noexcept : lock_(lock) { lock_.lock(node_); }
  ~node_guard() { lock_.unlock(node_); }
  node_guard(const node_guard&) = delete;
  node_guard& operator=(const node_guard&) = delete;

 private:
  Lock& lock_;
  typename Lock::node node_;
};

}  // namespace detail

/// A strictly FIFO queue lock: MCS, as published.
///
/// What it does: waiters queue up with a node each and spin on it, so that a hand-over is two line transfers however
/// many wait.
/// Fairness: strictly first come, first served. NOT for more threads than cores (see fifo_ticket_lock).
/// Use it for: many cores, short contended sections, order.
/// Cost: one exchange and one compare-exchange uncontended.
/// The node lives until unlock(node) has returned, is passed to it again, and is used for one lock at a time.
/// In the child of a fork the thread that held it can unlock and use it: the queue there is empty.
/// No bound on waiters but the memory for their nodes.
/// Constant-initialised; all zero is unlocked; 16 bytes, a node 64.
class fifo_mcs_lock {
 public:
  using node = detail::mcs_queue::node;
  using guard = detail::node_guard<fifo_mcs_lock>;

  constexpr fifo_mcs_lock() noexcept = default;
  fifo_mcs_lock(const fifo_mcs_lock&) = delete;
  fifo_mcs_lock& operator=(const fifo_mcs_lock&) = delete;

  void lock(node& mine) noexcept { queue_.lock(mine); }
  /// For the type built on this one: lock() in two steps, so that the store of the first can be done by the time that
  /// the second needs it done. end_turn() takes the first back.
  static void begin_turn(node& mine) noexcept { detail::mcs_queue::begin_turn(mine); }
  static void end_turn(node& mine) noexcept { detail::mcs_queue::end_turn(mine); }
  void lock_begun(node& mine) noexcept { queue_.lock_begun(mine); }
  /// A waiter does `meanwhile` instead of pausing. False: it has not got the lock, but is in an always-abort attempt.
  bool lock(node& mine, pastime& meanwhile) noexcept { return queue_.lock(mine, &meanwhile); }
  /// The "attempt" of Shore-MT's mcs lock: acquires only when free.
  [[nodiscard]] bool try_lock(node& mine) noexcept { return queue_.try_lock(mine); }
  /// Requires: the calling thread holds the lock with this node.
  void unlock(node& mine) noexcept { queue_.unlock(mine); }
  /// unlock(), or false, and nothing done, where nobody holds the lock, and where all turns of the node, all ended by
  /// this function, are over: other threads' turns go on. Cost: a store.
  bool unlock_if_held(node& mine) noexcept { return queue_.unlock_if_held(mine); }

  /// Whether somebody holds it, at some moment of the call: what a speculative attempt subscribes to.
  bool is_held() const noexcept { return queue_.is_held(); }

 private:
  detail::mcs_queue queue_;
};

/// A fair queue lock that stays fast with more threads than cores.
///
/// What it does: MCS behind a door (admission.hpp): as many waiters as there are CPUs queue up, the others sleep and
/// are called in, oldest first.
/// Fairness: first come, first served inside; with T threads a thread is passed by at most bypass_bound(T) times.
/// Use it for: contended sections on many cores that want fairness.
/// Cost: as fifo_mcs_lock, plus a few loads of the same line.
/// Nodes, and children of forks, as in fifo_mcs_lock. At most 2^31 threads wait in the queue, and as many outside
/// (Linux has room for 2^22).
/// Constant-initialised; all zero is unlocked; 32 bytes, a node 64.
class mcs_lock {
 public:
  using node = detail::mcs_queue::node;
  using guard = detail::node_guard<mcs_lock>;

  constexpr mcs_lock() noexcept = default;
  mcs_lock(const mcs_lock&) = delete;
  mcs_lock& operator=(const mcs_lock&) = delete;

  static constexpr std::uint64_t bypass_bound(std::uint64_t threads) noexcept {
    return admission::bypass_bound(threads);
  }

  [[gnu::always_inline]] void lock(node& mine) noexcept { lock(mine, nullptr); }
  /// As in fifo_mcs_lock.
  static void begin_turn(node& mine) noexcept { detail::mcs_queue::begin_turn(mine); }
  static void end_turn(node& mine) noexcept { detail::mcs_queue::end_turn(mine); }
  [[gnu::always_inline]] void lock_begun(node& mine) noexcept { lock_begun(mine, nullptr); }
  /// As fifo_mcs_lock::lock(node&, pastime&).
  bool lock(node& mine, pastime& meanwhile) noexcept { return lock(mine, &meanwhile); }
  [[nodiscard]] bool try_lock(node& mine) noexcept { return queue_.try_lock(mine); }
  /// Requires: the calling thread holds the lock with this node.
  [[gnu::always_inline]] void unlock(node& mine) noexcept {
    if (door_.busy()) [[unlikely]]
      return unlock_at_door(mine);
    queue_.unlock(mine);
  }
  /// As fifo_mcs_lock::unlock_if_held().
  [[gnu::always_inline]] bool unlock_if_held(node& mine) noexcept {
    if (door_.busy()) [[unlikely]]
      return unlock_at_door_if_held(mine);
    return queue_.unlock_if_held(mine);
  }

  /// Whether somebody holds it, at some moment of the call: what a speculative attempt subscribes to.
  bool is_held() const noexcept { return queue_.is_held(); }

 private:
  [[gnu::always_inline]] bool lock(node& mine, pastime* meanwhile) noexcept {
    begin_turn(mine);
    return lock_begun(mine, meanwhile);
  }
  [[gnu::always_inline]] bool lock_begun(node& mine, pastime* meanwhile) noexcept {
    if (!door_.stands_open(queue_.inside())) [[unlikely]]
      return lock_at_door(mine, meanwhile);
    return queue_.lock_begun(mine, meanwhile);
  }
  TXSYNC_EXPORT bool lock_at_door(node& mine, pastime* meanwhile) noexcept;
  bool lock_in_queue(node& mine, pastime* meanwhile) noexcept;
  TXSYNC_EXPORT void unlock_at_door(node& mine) noexcept;
  TXSYNC_EXPORT bool unlock_at_door_if_held(node& mine) noexcept;
  admission::others others_inside() const noexcept;

  detail::mcs_queue queue_;
  admission door_;
};

}  // namespace txsync::inline TXSYNC_BACKEND
