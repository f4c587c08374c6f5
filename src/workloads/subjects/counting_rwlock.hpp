// SPDX-License-Identifier: Apache-2.0
// What glibc's reader-writer lock was until version 2.24, and so when the Shore-MT paper was written. It has counters
// under a small lock, which each call takes for a moment. For measurements, not for use.
#pragma once

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>

#include <atomic>
#include <cstdint>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// The same lock as sleeping_mutex, acquired and released with Intel's prefixes.
class hle_sleeping_mutex {
 public:
  void lock() noexcept {
    if (machine::hle_acquire(word_, taken) == free) return;
    machine::relax();  // ends an elision that found the lock held; the exchange above is then done without it
    // acquire: pairs with the exchange in unlock()
    while (word_.exchange(waited_for, std::memory_order_acquire) != free) machine::park(word_, waited_for);
  }
  void unlock() noexcept {
    if (machine::active()) return machine::hle_release(word_, free);
    // release: pairs with the exchanges of threads that lock it
    if (word_.exchange(free, std::memory_order_release) == waited_for) machine::unpark(word_, 1);
  }
  bool is_held() const noexcept { return word_.load(std::memory_order_relaxed) != free; }  // relaxed: decides nothing

 private:
  static constexpr std::uint32_t free = 0;
  static constexpr std::uint32_t taken = 1;
  static constexpr std::uint32_t waited_for = 2;

  std::atomic<std::uint32_t> word_{free};
};

/// Small is sleeping_mutex or hle_sleeping_mutex. Readers first: they enter whenever no writer is inside. Lockable and
/// lockable_shared. Cost: two atomic read-modify-writes to enter and two to leave, on a line that readers share.
template <class Small>
class counting_rwlock {
 public:
  void lock_shared() noexcept {
    small_.lock();
    while (writer_.load(relaxed) != 0) wait(readers_asleep_, readers_called_);
    add(readers_, 1);
    small_.unlock();
  }
  void unlock_shared() noexcept {
    small_.lock();
    add(readers_, -1);
    leave();
  }
  void lock() noexcept {
    small_.lock();
    while ((writer_.load(relaxed) | readers_.load(relaxed)) != 0) wait(writers_asleep_, writers_called_);
    writer_.store(1, relaxed);
    small_.unlock();
  }
  void unlock() noexcept {
    small_.lock();
    writer_.store(0, relaxed);
    leave();
  }

  // What elision asks.
  std::uint32_t readers() const noexcept { return readers_.load(relaxed); }
  bool has_writer() const noexcept { return writer_.load(relaxed) != 0; }
  bool is_held() const noexcept { return small_.is_held() || has_writer() || readers() != 0; }

 private:
  // Guarded by small_. A read without it is an attempt's, which any change aborts, or nothing is decided by it.
  static constexpr std::memory_order relaxed = std::memory_order_relaxed;
  using count = std::atomic<std::uint32_t>;

  static void add(count& to, int change) noexcept {
    to.store(to.load(relaxed) + static_cast<std::uint32_t>(change), relaxed);
  }
  /// Releases small_ while it sleeps.
  void wait(count& asleep, count& called) noexcept {
    const std::uint32_t seen = called.load(relaxed);
    add(asleep, 1);
    small_.unlock();
    machine::park(called, seen);
    small_.lock();
    add(asleep, -1);
  }
  /// Releases small_, then calls those that can enter now: a writer before all readers.
  void leave() noexcept {
    const bool empty = readers_.load(relaxed) == 0;
    const bool calls_writer = empty && writers_asleep_.load(relaxed) != 0;
    const bool calls_readers = empty && !calls_writer && readers_asleep_.load(relaxed) != 0;
    if (calls_writer) add(writers_called_, 1);
    if (calls_readers) add(readers_called_, 1);
    small_.unlock();
    if (calls_writer) machine::unpark(writers_called_, 1);
    if (calls_readers) machine::unpark(readers_called_, machine::everyone);
  }

  Small small_;
  count writer_{0};  ///< writers inside: 0 or 1
  count readers_{0};
  count readers_asleep_{0};
  count writers_asleep_{0};
  count readers_called_{0};  ///< the word on which readers sleep
  count writers_called_{0};
};

/// Like glibc's elision, attempts look at the whole lock: readers, too, begin one only if no thread is inside.
template <class Small>
class counting_rwlock_of_glibc : public counting_rwlock<Small> {
 public:
  bool has_writer() const noexcept { return this->is_held(); }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
