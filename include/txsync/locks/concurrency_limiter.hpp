// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace detail {
class sleeping_place;
/// For explorations, before their threads start: replaces concurrency_limiter::patience by `acquisitions` for all
/// locks. 0 restores it.
TXSYNC_EXPORT void lower_patience(std::uint32_t acquisitions) noexcept;
}  // namespace detail

/// The concurrency limiter of a fair lock. The active set has as many threads as there are CPUs to run them: the
/// holder, and threads that wait in the lock's queue. The other waiters are the passive set. They sleep, and are called
/// in, the oldest first.
/// A fair spin lock needs it if there are more threads than CPUs. The next owner must be running, so without a limiter
/// each hand-over waits for the scheduler. (Generic concurrency restriction: Dice and Kogan, EuroSys 2019; the passive
/// set of Dice's Malthusian locks, EuroSys 2017.)
///
/// A release calls a passive thread in after `patience` acquisitions or after a millisecond. If a passive thread finds
/// that the lock stays free, it is called in earlier. If no active thread waits, the first release by a called thread
/// wakes the next passive thread. That thread enters if the lock stays free for some microseconds. So a line of
/// sleepers drains at about the speed of their wake-ups.
/// If a called thread has not got the lock within `patience` further acquisitions, the limiter closes: newcomers wait
/// until that thread has it. So with T threads, a thread is passed by at most bypass_bound(T) times.
///
/// A limiter belongs to one lock. Any thread may call admits(), keeps_newcomers_out(), crowded() and
/// wait_in_passive_set(). The other functions are for the lock's holder. 16 bytes.
class concurrency_limiter {
 public:
  static constexpr std::uint32_t patience = 16'384;

  static constexpr std::uint64_t bypass_bound(std::uint64_t threads) noexcept {
    return threads * (std::uint64_t{2} * patience + threads);
  }

  constexpr concurrency_limiter() noexcept = default;

  /// True if a newcomer may enter without asking crowded(), because crowded() is false on any machine. `active` is the
  /// number of active threads, the holder included. Makes no call, for the path that a thread takes if no other thread
  /// waits.
  [[gnu::always_inline]] bool admits(std::uint32_t active) const noexcept {
    if (active >= always_active) [[unlikely]]
      return false;
    // relaxed: as in crowded()
    if (is_closed()) [[unlikely]]
      return false;
    return called_.load(std::memory_order_relaxed) == called::nobody;
  }
  /// True if a newcomer has to wait even for a lock that is free. A thread that was called in has not got it for long.
  bool keeps_newcomers_out() const noexcept { return is_closed() && !is_parents(); }
  /// True if a newcomer has to join the passive set. `works`: the newcomer warms up while it waits, so that two active
  /// threads do more than they would one after the other.
  bool crowded(std::uint32_t active, bool works) const noexcept {
    // relaxed: a wrong answer costs time only; a passive thread looks again, in order
    return (is_closed() || active >= limit(works)) && !is_parents();
  }

  /// Whether a thread is passive or on its way in: the holder then has to give the lock up within a hand_over.
  [[gnu::always_inline]] bool busy() const noexcept {
    // relaxed: concurrency_limiter.cpp says which thread sees whose number
    if (passive_called_.load(std::memory_order_relaxed) != passive_.load(std::memory_order_relaxed)) [[unlikely]]
      return true;
    return called_.load(std::memory_order_relaxed) != called::nobody;
  }

  /// Sleeps in the passive set until called in. The thread calls `still_crowded(context)`, which looks at the lock
  /// again, once other threads can see that it is passive. If that returns false, `kick(context)` has to acquire and
  /// release the lock past the limiter, which calls a thread in.
  struct lock_view {
    bool (*still_crowded)(void* context);
    void (*kick)(void* context);
    bool (*is_held)(void* context);
    void* context;
  };
  TXSYNC_EXPORT void wait_in_passive_set(const lock_view& lock) noexcept;

  /// For a holder that was called in, once it has the lock.
  TXSYNC_EXPORT void note_admitted() noexcept;

  [[deprecated("admits")]] bool stands_open(std::uint32_t active) const noexcept { return admits(active); }
  [[deprecated("wait_in_passive_set")]] void wait_outside(const lock_view& lock) noexcept { wait_in_passive_set(lock); }
  [[deprecated("note_admitted")]] void came_in() noexcept { note_admitted(); }

  enum class others : std::uint8_t {
    some,     ///< another active thread waits
    nobody,   ///< no active thread waits at this moment
    visitor,  ///< likewise, and the holder is a passive thread that has found the lock free
  };
  /// If busy(), the holder constructs one before it gives the lock up, and destroys it afterwards. The constructor
  /// calls a thread in. The destructor wakes that thread, and not earlier, because the kernel may run a woken thread in
  /// place of its waker.
  class hand_over {
   public:
    hand_over(concurrency_limiter& limiter, others active) noexcept : called_(limiter.hand_off(active)) {}
    ~hand_over() { wake(called_); }
    hand_over(const hand_over&) = delete;
    hand_over& operator=(const hand_over&) = delete;

   private:
    detail::sleeping_place* const called_;
  };

 private:
  bool is_closed() const noexcept {
    return (closed_.load(std::memory_order_relaxed) & closed) != 0;  // relaxed: a hint
  }
  /// In the child of a fork: whether the passive threads and the called one may be threads of the parent. No thread may
  /// wait for those. The first release in the child calls all of them in.
  TXSYNC_EXPORT bool is_parents() const noexcept;
  /// The mark of this process, which `closed_` holds above its flag.
  static std::uint8_t mark_here() noexcept;
  bool is_of_this_process() const noexcept;
  void become_this_process() noexcept;
  detail::sleeping_place* call_all() noexcept;
  /// The sleeping place of the thread that is called in now, or null.
  [[nodiscard]] TXSYNC_EXPORT detail::sleeping_place* hand_off(others active) noexcept;
  TXSYNC_EXPORT static void wake(detail::sleeping_place* called) noexcept;
  /// The state of the thread that is called in; at most one is on its way. A passive thread becomes active in these
  /// steps:
  ///     nobody   no thread is on its way    -> comes, when a release calls the oldest passive thread
  ///     comes    the called thread wakes up -> queues, when it is awake
  ///     queues   it stands in the queue     -> nobody, when it has got the lock: note_admitted() opens the limiter
  enum class called : std::uint8_t { nobody, comes, queues };
  TXSYNC_EXPORT std::uint32_t limit(bool works) const noexcept;
  static bool stays_free(const lock_view& lock) noexcept;
  static constexpr std::uint32_t always_active = 2;  ///< so many threads always have room if none is on its way in
  static constexpr std::uint8_t closed = 1;

  std::atomic<std::uint32_t> passive_{0};         // the next number for a passive thread
  std::atomic<std::uint32_t> passive_called_{0};  // the next number to be called; written by the holder
  // The flag `closed`, and above it the mark of the process. Written by the holder. Also written by a thread that
  // becomes passive while no other thread is.
  std::atomic<std::uint8_t> closed_{0};
  std::atomic<called> called_{called::nobody};  // nobody and comes are set by the holder
  // Acquisitions since the last call, or since note_admitted(); the holder's.
  std::uint16_t passed_ = 0;
  std::uint32_t last_call_ = 0;  // in units of 1024 cycles; the holder's
};
static_assert(sizeof(concurrency_limiter) == 16);
static_assert(concurrency_limiter::patience < 0xFFFF);

using admission [[deprecated("concurrency_limiter")]] = concurrency_limiter;

}  // namespace txsync::TXSYNC_INLINE_BACKEND
