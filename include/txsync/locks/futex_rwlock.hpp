// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/timed.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread_annotations.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// A reader-writer lock that admits readers as the C library's does, for code that relies on it. Under `txsync run` a
/// pthread_rwlock_t becomes one.
///
/// What it does: one 64-bit word holds the active readers, the writer, and the numbers of sleeping readers and writers.
/// Waiters spin for a short time, then sleep. A free lock goes to the first thread that asks. A sleeper that has waited
/// for 1 ms is overdue, and sets a bit in the word. The next thread that leaves the lock empty then reserves it for
/// sleepers. A writer reserves it for all sleeping readers or, if no reader is overdue, for a writer. The last reader
/// reserves it for a writer or, if no writer is overdue, for the readers. (Phases of readers and writers: Brandenburg
/// and Anderson, ECRTS 2009.)
/// Fairness: readers first. A reader enters whenever no writer is active, so a thread may read-lock again what it has
/// read-locked. Readers that follow each other without a gap keep writers out without bound, as with the C library.
/// With admit::after_writers a reader waits while a writer sleeps; then a thread must not read-lock twice.
/// No other thread keeps a sleeper out:
///  - An overdue reader enters, with all sleeping readers, when the active writer leaves. With admit::after_writers one
///    more writer may enter before it. If all other readers of that phase have left before it has woken up, an overdue
///    writer may enter before it.
///  - An overdue writer that is the only sleeping writer enters when the active writer leaves. If readers enter after
///    that writer, it enters when the last of them leaves. If several writers sleep, one of them enters, mostly the
///    oldest. Each later release wakes another one, which asks for its turn 0.25 ms later.
/// In time: 1 ms, those sections and a wake-up (5..60 us). For a writer, each other sleeping writer adds about 1 ms, a
/// wake-up and three sections. That holds if each thread is run once the kernel has woken it.
/// Use it for: programs written against pthread_rwlock_t. Otherwise use shared_mutex, which is fair to both sides.
/// Cost: one compare-exchange each way, on one line for all readers; a sleep and wake takes 5..60 us. While no sleeper
/// is overdue, there are no hand-overs.
/// Named requirements: SharedTimedLockable (SharedTimedMutex). Thread-safe; not recursive for writers. At most 2^30
/// shared holds exist, over all threads. Further readers are refused, or wait until a hold ends.
/// At most 4,095 threads of each kind can sleep. Further threads look after a millisecond, and then at intervals that
/// grow to 640 ms. While the lock is reserved, newcomers look after 20 us, and then at intervals that grow to 1 ms. No
/// bound holds for any of these.
/// In the child of a fork, the thread that held it, in either mode, can unlock and use it. The child forgets the
/// parent's sleepers when the lock is left empty there, or when a thread begins to sleep. Until then, readers that try
/// with admit::after_writers are refused, unless forget_sleepers() was called. The sleepers of two processes are told
/// apart if fewer than eight forks lie between these.
/// Constant-initialised; all bits zero is an unlocked lock; 8 bytes. The next owner may destroy it as soon as it has
/// locked and unlocked it.
class TXSYNC_CAPABILITY("shared_mutex") futex_rwlock : public detail::timed<futex_rwlock>,
                                                       public detail::timed_shared<futex_rwlock> {
 public:
  enum class admit : std::uint8_t { readers_first, after_writers };

  constexpr futex_rwlock() noexcept = default;
  futex_rwlock(const futex_rwlock&) = delete;
  futex_rwlock& operator=(const futex_rwlock&) = delete;

  void lock() noexcept TXSYNC_LOCKS {
    if (!try_lock()) [[unlikely]]
      (void)lock_slow(machine::no_deadline);
  }
  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // acquire pairs with the release in leave()
    while ((seen & inside_bits) == 0) {
      if (word_.compare_exchange_weak(seen, seen | writer, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  /// Tries until machine::clock_ns() reaches the deadline.
  [[nodiscard]] bool try_lock_until_ns(std::uint64_t deadline) noexcept TXSYNC_TRY_LOCKS {
    return try_lock() || lock_slow(deadline);
  }
  /// Requires: the calling thread is the active writer.
  void unlock() noexcept TXSYNC_UNLOCKS {
    TXSYNC_ASSERT(has_writer(), "the calling thread is the active writer");
    if (!leave_alone()) [[unlikely]]
      (void)leave_empty(writer);
  }
  /// As unlock(). If no writer is active, it does nothing and returns false. No extra cost.
  bool unlock_if_held() noexcept TXSYNC_UNLOCKS { return leave_alone() || leave_empty(writer); }

  void lock_shared(admit how = admit::readers_first) noexcept TXSYNC_LOCKS_SHARED {
    if (!try_lock_shared(how)) [[unlikely]]
      (void)lock_shared_slow(how, machine::no_deadline);
  }
  [[nodiscard]] bool try_lock_shared(admit how = admit::readers_first) noexcept TXSYNC_TRY_LOCKS_SHARED {
    const std::uint64_t closed = closed_to_readers(how);
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    while ((seen & closed) == 0) {
      // acquire pairs with the release in leave()
      if (word_.compare_exchange_weak(seen, seen + reader, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  [[nodiscard]] bool try_lock_shared_until_ns(std::uint64_t deadline,
                                              admit how = admit::readers_first) noexcept TXSYNC_TRY_LOCKS_SHARED {
    return try_lock_shared(how) || lock_shared_slow(how, deadline);
  }
  /// Requires: the calling thread is an active reader.
  void unlock_shared() noexcept TXSYNC_UNLOCKS_SHARED {
    TXSYNC_ASSERT(readers() != 0, "the calling thread is an active reader");
    (void)leave_shared<false>();
  }
  /// As unlock_shared(). If no reader is active, it does nothing and returns false. No extra cost.
  bool unlock_shared_if_held() noexcept TXSYNC_UNLOCKS_SHARED { return leave_shared<true>(); }

  /// Whether a writer is active; the number of active readers. Each is true at some moment during the call.
  bool has_writer() const noexcept { return (word_.load(std::memory_order_relaxed) & writer) != 0; }
  unsigned readers() const noexcept {
    return static_cast<unsigned>(word_.load(std::memory_order_relaxed) & readers_bits);
  }
  /// Whether there are as many readers as there may be.
  bool is_full() const noexcept { return (word_.load(std::memory_order_relaxed) & full) != 0; }

  bool is_held() const noexcept { return (word_.load(std::memory_order_relaxed) & inside_bits) != 0; }
  /// Whether a reader that enters in this way has to wait at present.
  bool is_closed_to_readers(admit how) const noexcept {
    return (word_.load(std::memory_order_relaxed) & closed_to_readers(how)) != 0;
  }

  /// For the child of a fork: the sleepers are threads of the parent. Requires: no thread of this process sleeps here.
  void forget_sleepers() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: counts only; they publish no data
    while (!word_.compare_exchange_weak(seen, without_sleepers(seen), std::memory_order_relaxed)) {
    }
  }

 private:
  // The low half: the active readers and the writer.
  static constexpr std::uint64_t reader = 1;
  static constexpr std::uint64_t readers_bits = 0x7FFF'FFFF;
  static constexpr std::uint64_t full = std::uint64_t{1} << 30;  ///< with so many readers no more may enter
  static constexpr std::uint64_t writer = std::uint64_t{1} << 31;
  static constexpr std::uint64_t inside_bits = readers_bits | writer;
  // The high half, on which threads sleep: how many sleep, what they ask for, and whether a wake-up is under way. It is
  // 0 whenever the lock is left empty and no thread sleeps.
  static constexpr std::uint64_t max_asleep = 0xFFF;
  static constexpr std::uint64_t sleeping_reader = std::uint64_t{1} << 32;
  static constexpr std::uint64_t sleeping_readers_bits = max_asleep << 32;
  static constexpr std::uint64_t sleeping_writer = std::uint64_t{1} << 44;
  static constexpr std::uint64_t sleeping_writers_bits = max_asleep << 44;
  static constexpr std::uint64_t sleepers_bits = sleeping_readers_bits | sleeping_writers_bits;
  static constexpr std::uint64_t overdue_reader = std::uint64_t{1} << 56;  // a sleeper of that kind is overdue
  static constexpr std::uint64_t overdue_writer = std::uint64_t{1} << 57;
  // The lock is reserved for sleepers of that kind: the bit `writer` belongs to no thread, but keeps others out.
  static constexpr std::uint64_t given_to_readers = std::uint64_t{1} << 58;
  static constexpr std::uint64_t given_to_writer = std::uint64_t{1} << 59;
  static constexpr std::uint64_t given_bits = given_to_readers | given_to_writer;
  static constexpr unsigned process_shift = 60;  // the process of the sleepers, by the count of forks
  static constexpr std::uint64_t process_bits = std::uint64_t{7} << process_shift;
  static constexpr std::uint64_t waking = std::uint64_t{1} << 63;

  static constexpr std::uint64_t closed_to_readers(admit how) noexcept {
    return (how == admit::readers_first ? writer : writer | sleeping_writers_bits) | full;
  }
  static constexpr std::uint64_t without_sleepers(std::uint64_t seen) noexcept {
    return seen & ((seen & given_bits) != 0 ? readers_bits : inside_bits);
  }

  struct party;
  TXSYNC_EXPORT bool lock_slow(std::uint64_t deadline) noexcept;
  TXSYNC_EXPORT bool lock_shared_slow(admit how, std::uint64_t deadline) noexcept;
  bool enter(party who, std::uint64_t deadline) noexcept;
  bool join_sleepers(party& who) noexcept;
  bool come_in(const party& who, std::uint64_t& seen) noexcept;
  bool spin(const party& who) noexcept;
  bool sleep(const party& who, std::uint64_t deadline, std::uint64_t due) noexcept;
  bool give_up(const party& who) noexcept;
  static std::uint64_t without_parents_sleepers(std::uint64_t seen) noexcept;
  static unsigned woken_of(std::uint64_t seen) noexcept;
  static std::uint64_t handed_on(std::uint64_t left, bool by_writer, unsigned& woken) noexcept;
  /// For a thread that may leave the lock empty while the high half is not 0. Returns false as unlock_if_held() does.
  TXSYNC_EXPORT bool leave_empty(std::uint64_t who) noexcept;

  /// Unlocks for a writer, if no thread sleeps or is being woken. It does not read the word first: that read would have
  /// to wait for the exchange that took the lock.
  bool leave_alone() noexcept {
    std::uint64_t expected = writer;
    // release pairs with the acquire of a thread that enters; relaxed: leave_empty() looks again
    return word_.compare_exchange_strong(expected, 0, std::memory_order_release, std::memory_order_relaxed);
  }
  template <bool checks>
  [[gnu::always_inline]] bool leave_shared() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    std::uint64_t next;
    do {
      if (checks && (seen & readers_bits) == 0) [[unlikely]]
        return false;
      next = seen - reader;
      if ((next & inside_bits) == 0 && next != 0) [[unlikely]]
        return leave_empty(reader);
      // release pairs with the acquire of a thread that enters
    } while (!word_.compare_exchange_weak(seen, next, std::memory_order_release, std::memory_order_relaxed));
    return true;
  }

  std::atomic<std::uint64_t> word_{0};
};
static_assert(sizeof(futex_rwlock) == 8);

}  // namespace txsync::TXSYNC_INLINE_BACKEND
