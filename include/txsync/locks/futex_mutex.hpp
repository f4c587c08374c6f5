// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/pastime.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/restartable.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// A mutex that spins a little and then sleeps in the kernel; the algorithm under txsync::mutex, without site and
/// counting.
///
/// What it does: one 64-bit word tells whether the lock is held, how often it was given up, how many threads sleep, and
/// whether one of the waiters watches the lock. Giving it up needs no atomic instruction while nobody has to be woken
/// (machine/restartable.hpp). The first waiter that has spun in vain becomes the watcher; the others sleep until a
/// thread that had to wait for the lock gives it up, and wakes the next watcher. A watcher that finds the lock busy
/// with short sections looks again after growing pauses, asleep in between, so that the sections run on one CPU with
/// warm caches meanwhile; one that finds the same section still inside sleeps until that section wakes it. So a busy
/// lock with more threads than cores runs at the speed of few (compare Dice's Malthusian locks, EuroSys 2017).
///
/// Fairness: none in the short run, as with std::mutex: a running thread may take the lock again before a waiter does.
/// The watcher looks at least once a millisecond; sleepers are woken oldest first.
/// Use it for: anything. Do not: where arrival order must be kept (mcs_lock).
/// Cost: lock one atomic read-modify-write, unlock some plain accesses, both inlined; a sleep and wake 5..60 us.
/// Named requirements: Lockable. Thread-safe; not recursive; constant-initialised; all zero is unlocked; 8 bytes.
/// May be destroyed by the next owner right after it has got and given up the lock.
class futex_mutex {
 public:
  constexpr futex_mutex() noexcept = default;
  futex_mutex(const futex_mutex&) = delete;
  futex_mutex& operator=(const futex_mutex&) = delete;

  void lock() noexcept {
    if (!acquire_if_free()) [[unlikely]]
      lock_slow(machine::no_deadline);
  }
  /// A waiter does `meanwhile` before it spins. False: it has not got the lock, but is in an always-abort attempt.
  bool lock(pastime& meanwhile) noexcept { return acquire_if_free() || lock_slow(meanwhile); }

  [[nodiscard]] bool try_lock() noexcept {
    // relaxed: a look only, so that a failing try does not write
    return (word_.load(std::memory_order_relaxed) & held) == 0 && acquire_if_free();
  }

  /// Tries until machine::clock_ns() reaches the deadline.
  [[nodiscard]] bool try_lock_until_ns(std::uint64_t deadline) noexcept {
    return acquire_if_free() || lock_slow(deadline);
  }

  /// Requires: the calling thread holds the lock.
  void unlock() noexcept {
    // relaxed: the holder's bits are its own
    if (!machine::release_unless_waited(word_, released(word_.load(std::memory_order_relaxed)))) [[unlikely]]
      unlock_slow();
  }

  /// Whether somebody holds it, at some moment of the call: what a speculative attempt subscribes to.
  // relaxed: an attempt's read is ordered by the attempt, and everybody else decides nothing by it
  bool is_held() const noexcept { return (word_.load(std::memory_order_relaxed) & held) != 0; }

  /// For the type built on this one: a flag that belongs to the holder and vanishes with unlock().
  void mark() noexcept { word_.fetch_or(marked, std::memory_order_relaxed); }  // relaxed: only the holder looks
  bool is_marked() const noexcept { return (word_.load(std::memory_order_relaxed) & marked) != 0; }

  /// The slow path of lock(), for the type built on this one. False only when the deadline has passed.
  TXSYNC_EXPORT bool lock_slow(std::uint64_t deadline) noexcept;
  /// The same without a deadline; false as in lock(pastime&).
  TXSYNC_EXPORT bool lock_slow(pastime& meanwhile) noexcept;
  bool acquire_if_free() noexcept {
    // acquire pairs with the release of release_unless_waited() and unlock_slow()
    return (word_.fetch_or(held, std::memory_order_acquire) & held) == 0;
  }

 private:
  // The holder's 16 bits: held; a mark; and how often the lock was given up, which tells a busy lock from a long
  // section.
  static constexpr std::uint64_t held = 1;
  static constexpr std::uint64_t marked = 2;
  static constexpr std::uint64_t turn = 4;
  static constexpr std::uint64_t turn_bits = 0xFFFC;
  static constexpr std::uint64_t holders_bits = 0xFFFF;
  // The waiters' 32 bits: how many sleep; "a wake-up is under way"; and, as the sign, "somebody watches": the half is
  // greater than zero exactly where unlock() has somebody to wake.
  static constexpr std::uint64_t sleeper = std::uint64_t{1} << 32;
  static constexpr std::uint64_t sleepers_bits = std::uint64_t{0x3FFF'FFFF} << 32;
  static constexpr std::uint64_t waking = std::uint64_t{1} << 62;
  static constexpr std::uint64_t watched = std::uint64_t{1} << 63;

  static constexpr std::uint16_t released(std::uint64_t seen) noexcept {
    return static_cast<std::uint16_t>((seen + turn) & turn_bits);
  }
  enum class outcome : std::uint8_t { got_lock, watch, sleep, timed_out };
  bool take(std::uint64_t& seen, std::uint64_t changed) noexcept;
  bool spin(std::uint64_t budget, std::uint64_t taken_back) noexcept;
  outcome become_watcher() noexcept;
  outcome watch(std::uint64_t deadline) noexcept;
  outcome sleep(std::uint64_t taken_back, std::uint64_t deadline) noexcept;
  outcome watch_instead() noexcept;
  void stop_watching() noexcept;
  TXSYNC_EXPORT void unlock_slow() noexcept;

  machine::lock_word word_{0};
};

}  // namespace txsync::inline TXSYNC_BACKEND
