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

/// The queue of tickets that both ticket locks share (Mellor-Crummey and Scott 1991, with proportional backoff).
///
/// The low bits of a ticket say in which process it was drawn, by the count of forks. In the child of a fork, the
/// holder passes over all tickets of other processes, because their threads do not exist there. Threads that do exist
/// notice this, and draw again.
class ticket_queue {
 public:
  constexpr ticket_queue() noexcept = default;

  [[gnu::always_inline]] std::uint32_t draw() noexcept {
    return next_.fetch_add(turn, std::memory_order_relaxed);  // relaxed: only the number matters
  }
  static constexpr std::uint32_t ticket_after(std::uint32_t ticket) noexcept { return ticket + turn; }
  [[gnu::always_inline]] bool is_served(std::uint32_t ticket) const noexcept {
    return serving_.load(std::memory_order_acquire) == ticket;  // pairs with the release in serve_next()
  }
  /// Pauses in proportion to the distance. Returns once the ticket is served, with a fence at the end. Returns false as
  /// lock(wait_task&) does. If the ticket is passed over, the thread draws and waits for another one.
  TXSYNC_EXPORT bool wait(std::uint32_t ticket, wait_task* task = nullptr) noexcept;
  /// For a race detector that does not see the code of src/. note_served_if(): if `got`, the thread has been served; it
  /// returns `got`. note_end(): the thread is about to serve the next.
  bool note_served_if(bool got) const noexcept;
  void note_end() const noexcept;
  /// Draws a ticket only if it is served at once.
  bool draw_if_served() noexcept {
    std::uint32_t ticket = serving_.load(std::memory_order_acquire);  // pairs with the release in serve_next()
    // relaxed on success: the load above acquires; no thread can have been served since
    return next_.compare_exchange_strong(ticket, ticket_after(ticket), std::memory_order_relaxed);
  }
  /// Whether a thread holds it, at some moment during the call. A speculative attempt subscribes to this.
  // relaxed: an attempt orders the reads in it, and other callers decide nothing by it
  [[gnu::always_inline]] bool is_held() const noexcept {
    return serving_.load(std::memory_order_relaxed) != next_.load(std::memory_order_relaxed);
  }
  /// The active threads: those with a ticket, the holder included. At the end of the call there were at least that
  /// many. A higher result would keep a thread away from a lock that has room for it.
  [[gnu::always_inline]] std::uint32_t active() const noexcept {
    // seq_cst: passive threads read it after their number is published (concurrency_limiter.cpp)
    const std::uint32_t next = next_.load(std::memory_order_seq_cst);
    const auto drawn = static_cast<std::int32_t>(next - serving_.load(std::memory_order_seq_cst));
    return drawn > 0 ? static_cast<std::uint32_t>(drawn) / turn : 0;
  }
  /// For the holder. To other threads it says which ticket is served, at some moment during the call.
  // relaxed: only the holder writes it
  std::uint32_t ticket_of_holder() const noexcept { return serving_.load(std::memory_order_relaxed); }
  /// How many tickets are served before that one, which is in the queue.
  std::uint32_t distance_to(std::uint32_t ticket) const noexcept { return (ticket - ticket_of_holder()) / turn; }
  [[gnu::always_inline]] void serve_next() noexcept {
    // relaxed: only the holder writes it. release pairs with is_served()
    serving_.store(ticket_after(serving_.load(std::memory_order_relaxed)), std::memory_order_release);
  }
  /// If exactly one thread has a ticket, it is the holder: serves the next ticket. False, and nothing is done: no
  /// thread holds the lock, or others have tickets.
  [[gnu::always_inline]] bool serve_next_if_alone() noexcept {
    // relaxed, both: only the holder writes the first, and the holder has drawn its ticket
    const std::uint32_t serving = serving_.load(std::memory_order_relaxed);
    if (next_.load(std::memory_order_relaxed) != ticket_after(serving)) return false;
    serving_.store(ticket_after(serving), std::memory_order_release);  // pairs with is_served()
    return true;
  }
  /// For the holder, before it gives the lock up. In the child of a fork it has an effect once for each lock: if others
  /// have tickets, all of them are passed over.
  [[gnu::always_inline]] void forget_parents_threads() noexcept {
    // It does not read how many have tickets, which lock() has written by an atomic instruction. Such a read took 3.3
    // ns (Emerald Rapids, empty critical section).
    if (machine::is_forked()) [[unlikely]]
      renew_in_child();
  }

 private:
  static constexpr std::uint32_t turn = 16;                ///< the difference between two tickets
  static constexpr std::uint32_t process_bits = turn - 1;  ///< the count of forks, modulo 16

  /// Whether the holder has gone on to the tickets of another process.
  static constexpr bool is_passed_over(std::uint32_t ticket, std::uint32_t serving) noexcept {
    return ((ticket ^ serving) & process_bits) != 0 && static_cast<std::int32_t>(serving - ticket) > 0;
  }
  TXSYNC_EXPORT void renew_in_child() noexcept;

  std::atomic<std::uint32_t> next_{0};
  std::atomic<std::uint32_t> serving_{0};
};

}  // namespace detail

/// A strictly FIFO ticket spin lock.
///
/// What it does: threads draw numbers and are served in that order. The pause between two looks grows with the
/// distance.
/// Fairness: strictly first come, first served. NOT for more threads than cores: each hand-over to a thread that does
/// not run costs a time slice of the scheduler.
/// Use it for: short sections among at most as many threads as cores, if order matters.
/// Cost: one fetch-add, one store.
/// In the child of a fork, the thread that held it can unlock and use it: waiters of the parent are passed over. The
/// first unlock there lets newcomers pass threads that already wait there.
/// Tickets are counted modulo 2^28: at most 2^27 threads have one at a time (Linux has room for 2^22).
/// Named requirements: Lockable.
/// Constant-initialised; all bits zero is an unlocked lock; 8 bytes.
class TXSYNC_CAPABILITY("mutex") fifo_ticket_lock {
 public:
  constexpr fifo_ticket_lock() noexcept = default;
  fifo_ticket_lock(const fifo_ticket_lock&) = delete;
  fifo_ticket_lock& operator=(const fifo_ticket_lock&) = delete;

  void lock() noexcept TXSYNC_LOCKS {
    const std::uint32_t ticket = queue_.draw();
    if (!queue_.is_served(ticket)) [[unlikely]]
      queue_.wait(ticket);
  }
  /// A waiter runs `task` instead of pausing. Returns false if the thread does not have the lock but
  /// is in an always-abort attempt.
  bool lock(wait_task& task) noexcept TXSYNC_TRY_LOCKS {
    const std::uint32_t ticket = queue_.draw();
    return queue_.is_served(ticket) || queue_.wait(ticket, &task);
  }
  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS { return queue_.draw_if_served(); }
  /// Requires: the calling thread holds the lock.
  void unlock() noexcept TXSYNC_UNLOCKS {
    TXSYNC_ASSERT(is_held(), "the calling thread holds the lock");
    queue_.forget_parents_threads();
    queue_.serve_next();
  }
  /// As unlock(). If no thread holds the lock, it does nothing and returns false. Cost: as unlock() without waiters.
  bool unlock_if_held() noexcept TXSYNC_UNLOCKS {
    if (queue_.serve_next_if_alone()) return true;
    if (!queue_.is_held()) [[unlikely]]
      return false;
    unlock();
    return true;
  }
  bool is_held() const noexcept { return queue_.is_held(); }

 private:
  detail::ticket_queue queue_;
};

namespace detail {

/// The fair ticket lock, over a queue and a concurrency limiter that its owner stores wherever there is room.
class TXSYNC_CAPABILITY("mutex") limited_ticket {
 public:
  limited_ticket(ticket_queue& queue, concurrency_limiter& limiter) noexcept : queue_(queue), limiter_(limiter) {}

  [[gnu::always_inline]] bool lock(wait_task* task = nullptr) noexcept TXSYNC_TRY_LOCKS {
    if (!limiter_.admits(queue_.active())) [[unlikely]]
      return lock_limited(*this, task);
    const std::uint32_t ticket = queue_.draw();
    return queue_.is_served(ticket) || queue_.wait(ticket, task);
  }
  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS { return queue_.draw_if_served(); }
  [[gnu::always_inline]] void unlock() noexcept TXSYNC_UNLOCKS {
    if (limiter_.busy()) [[unlikely]]
      return unlock_limited(*this);
    queue_.serve_next();
  }
  /// As unlock(). If other threads have tickets or are passive, or no thread holds the lock, it does nothing and
  /// returns false.
  [[gnu::always_inline]] bool unlock_if_alone() noexcept { return !limiter_.busy() && queue_.serve_next_if_alone(); }

 private:
  /// By value: two references whose address is not taken live in registers.
  TXSYNC_EXPORT static bool lock_limited(limited_ticket whole, wait_task* task) noexcept;
  TXSYNC_EXPORT static void unlock_limited(limited_ticket whole) noexcept;
  concurrency_limiter::others other_active() const noexcept;

  ticket_queue& queue_;
  concurrency_limiter& limiter_;
};

}  // namespace detail

/// A fair ticket lock that stays fast with more threads than cores.
///
/// What it does: it is a ticket lock with a concurrency limiter (concurrency_limiter.hpp). As many waiters as there are
/// CPUs spin in order. The others sleep and are called in, the oldest first.
/// Fairness: the active set is served in order. With T threads, a thread is passed by at most bypass_bound(T) times.
/// A wait takes at most 2 ms plus a wake-up (5 to 60 us), 64 critical sections, and one section of each active thread.
/// For each thread that was passive before it, a passive thread waits as long again. Usually this is 1 ms or less for
/// each. The bound requires CPUs for the active threads and for those that are called in (docs/locks/ticket.md).
/// Real-time priorities are ignored: a waiter that has one sleeps between its looks instead of yielding.
/// Use it for: short contended sections that need fairness. Do not use it for: sections that block (mutex), or CPUs
/// that other programs need, too. The limiter counts CPUs, and not what others leave of them. A turn may then belong to
/// a thread that does not run, and all others wait for it.
/// Cost: as fifo_ticket_lock, plus three loads of the same line.
/// Children of forks, and counts of tickets: as fifo_ticket_lock. Passive threads are counted modulo 2^32.
/// Named requirements: Lockable.
/// Constant-initialised; all bits zero is an unlocked lock; 24 bytes.
class TXSYNC_CAPABILITY("mutex") ticket_lock {
 public:
  constexpr ticket_lock() noexcept = default;
  ticket_lock(const ticket_lock&) = delete;
  ticket_lock& operator=(const ticket_lock&) = delete;

  static constexpr std::uint64_t bypass_bound(std::uint64_t threads) noexcept {
    return concurrency_limiter::bypass_bound(threads);
  }

  [[gnu::always_inline]] void lock() noexcept TXSYNC_LOCKS { both().lock(); }
  /// As fifo_ticket_lock::lock(wait_task&).
  bool lock(wait_task& task) noexcept TXSYNC_TRY_LOCKS { return both().lock(&task); }
  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS { return both().try_lock(); }
  /// Requires: the calling thread holds the lock.
  [[gnu::always_inline]] void unlock() noexcept TXSYNC_UNLOCKS {
    TXSYNC_ASSERT(is_held(), "the calling thread holds the lock, also behind the limiter");
    queue_.forget_parents_threads();
    both().unlock();
  }
  /// As fifo_ticket_lock::unlock_if_held().
  [[gnu::always_inline]] bool unlock_if_held() noexcept TXSYNC_UNLOCKS {
    if (both().unlock_if_alone()) [[likely]]
      return true;
    if (!queue_.is_held()) [[unlikely]]
      return false;
    unlock();
    return true;
  }
  bool is_held() const noexcept { return queue_.is_held(); }

 private:
  detail::limited_ticket both() noexcept { return {queue_, limiter_}; }

  detail::ticket_queue queue_;
  concurrency_limiter limiter_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
