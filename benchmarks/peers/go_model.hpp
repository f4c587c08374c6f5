// SPDX-License-Identifier: Apache-2.0
// A model of Go's sync.Mutex. Written for this benchmark from its published description (the comment on starvation in
// the package's source, Go issue 13086), not from its code.
//
// Normal mode: waiters spin a little, then sleep in a queue. A woken waiter competes with newcomers, and goes to the
// front of the queue if it loses. Starvation mode begins when a waiter has waited for more than 1 ms. unlock() then
// hands the lock to the front of the queue. Newcomers neither take it nor spin, but queue at the back. The mode ends
// when the last waiter, or one that waited for less than 1 ms, gets the lock. Simplified: waiters are threads that the
// kernel puts to sleep. Go parks goroutines, whose switches are cheaper, and lets a thread run other goroutines
// meanwhile. So figures of this model show the algorithm, and not Go.
#pragma once

#include "peers/wait_queue.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

class go_model {
 public:
  void lock() noexcept {
    std::uint32_t seen = 0;
    // acquire: pairs with the release of unlock()
    if (!state_.compare_exchange_strong(seen, held, std::memory_order_acquire, std::memory_order_relaxed)) wait();
  }
  void unlock() noexcept {
    // release: pairs with the acquires of those who lock it
    const std::uint32_t left = state_.fetch_sub(held, std::memory_order_release) - held;
    if (left != 0) pass_on(left);
  }

 private:
  static constexpr std::uint32_t held = 1;
  static constexpr std::uint32_t awake = 2;     ///< a waiter is awake, or about to be: unlock() need not wake another
  static constexpr std::uint32_t starving = 4;  ///< starvation mode
  static constexpr std::uint32_t waiter = 8;    ///< times the number of waiters
  static constexpr unsigned max_spins = 4;
  static constexpr unsigned pauses = 30;  ///< a spin
  static constexpr std::uint64_t patience_ns = 1'000'000;

  /// The state of one waiter.
  struct waiting {
    std::uint64_t since_ns = 0;  ///< 0: it has not slept yet
    bool is_starving = false;
    bool is_awake = false;  ///< it has set `awake`, and clears it when it sleeps or gets the lock
    unsigned spins = 0;
  };

  void wait() noexcept {
    waiting me;
    for (;;) {
      std::uint32_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange below orders
      if ((seen & (held | starving)) == held && me.spins < max_spins) {
        spin(me, seen);
        continue;
      }
      // acquire: pairs with the release of unlock(), where it takes the lock
      if (!state_.compare_exchange_weak(seen, after(seen, me), std::memory_order_acquire, std::memory_order_relaxed))
        continue;
      if ((seen & (held | starving)) == 0) return;
      if (sleep(me)) return;
    }
  }

  void spin(waiting& me, std::uint32_t seen) noexcept {
    if (!me.is_awake && (seen & awake) == 0 && seen >= waiter) {
      // relaxed: a hint to unlock()
      me.is_awake = state_.compare_exchange_strong(seen, seen | awake, std::memory_order_relaxed);
    }
    for (unsigned i = 0; i < pauses; ++i) machine::relax();
    ++me.spins;
  }

  /// The state when this thread has taken the lock, or is counted as a waiter.
  static std::uint32_t after(std::uint32_t seen, const waiting& me) noexcept {
    std::uint32_t next = seen;
    if ((seen & starving) == 0) next |= held;
    if ((seen & (held | starving)) != 0) next += waiter;
    if (me.is_starving && (seen & held) != 0) next |= starving;
    return me.is_awake ? next & ~awake : next;
  }

  /// True when it was handed the lock.
  bool sleep(waiting& me) noexcept {
    const bool was_here = me.since_ns != 0;
    if (!was_here) me.since_ns = machine::clock_ns();
    wait_for_permit(was_here);
    me.is_starving = me.is_starving || machine::clock_ns() - me.since_ns > patience_ns;
    const std::uint32_t seen = state_.load(std::memory_order_relaxed);  // relaxed: only the woken waiter ends the mode
    if ((seen & starving) == 0) {
      me.is_awake = true;  // unlock() has set it for this waiter
      me.spins = 0;
      return false;
    }
    const bool ends = !me.is_starving || seen / waiter == 1;
    // acquire: pairs with the release of unlock(), which left the lock to this waiter
    state_.fetch_add(held - waiter - (ends ? starving : 0), std::memory_order_acquire);
    return true;
  }

  void pass_on(std::uint32_t seen) noexcept {
    // Starvation mode: `held` is not set, but no thread takes the lock before the woken waiter.
    if ((seen & starving) != 0) return give_permit();
    while (seen >= waiter && (seen & (held | awake | starving)) == 0) {
      // relaxed: the lock is free already
      if (state_.compare_exchange_weak(seen, (seen - waiter) | awake, std::memory_order_relaxed)) return give_permit();
    }
  }

  // A semaphore whose permits go to the sleeping threads, in the order of the queue.
  void wait_for_permit(bool at_front) noexcept {
    sleeper me;
    {
      const wait_queue::holder hold(queue_);
      if (permits_ != 0) {
        --permits_;
        return;
      }
      at_front ? queue_.push_front(me) : queue_.push_back(me);
    }
    me.sleep();
  }
  void give_permit() noexcept {
    sleeper* next = nullptr;
    {
      const wait_queue::holder hold(queue_);
      next = queue_.pop();
      if (next == nullptr) ++permits_;
    }
    if (next != nullptr) next->wake(1);
  }

  std::atomic<std::uint32_t> state_{0};
  wait_queue queue_;
  unsigned permits_ = 0;  ///< guarded by the queue
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
