// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/timed.hpp>
#include <txsync/locks/wait_task.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/restartable.hpp>
#include <txsync/machine/thread_annotations.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace detail {
class sleeping_place;
/// For explorations, before their threads start: how waiters of all locks wait.
enum class patience : std::uint8_t {
  usual,
  brief,   ///< they spin for a short time only, so that most stand in line
  none,    ///< as brief, and past their deadlines at once
  endless  ///< as brief, and never past their deadlines
};
TXSYNC_EXPORT void wait_with(patience how) noexcept;
}  // namespace detail

/// A mutex that spins for a short time, then sleeps in the kernel, and starves no thread. It is the algorithm of
/// txsync::mutex, without a site and without counting.
///
/// What it does: a free lock goes to the first thread that asks, so a running thread may take it again before a waiter
/// does. Waiters that have spun without success draw numbers and form a line. The head of the line is awake or wakes up
/// now and then; the others sleep. While the head is not past its deadline, an unlock takes no atomic instruction and
/// no system call (machine/restartable.hpp). So a busy lock with more threads than cores is about as fast as with few
/// threads (compare Dice's Malthusian locks, EuroSys 2017). Once the head is past its deadline, the next unlock hands
/// the lock to it: no thread can take the lock in between. If the head finds that the present critical section is long,
/// it sleeps until that section ends.
///
/// Fairness: a waiter in line is passed by at most bypass_bound(threads) critical sections, whatever the clock does. It
/// waits at most max(5 ms, 0.5 ms for each thread in line) plus, for each thread in line, one hand-over (5..60 us) and
/// three sections. That holds if each thread in line is run once the kernel has woken it.
/// Waiters with a real-time priority (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE) stand outside the line. Each unlock hands
/// the lock to one of them, the highest priority first, before the line. They sleep and never spin without limit.
/// Waiters with a deadline stand outside the line, too. Each unlock wakes one of them. A waiter of this kind that has
/// waited for a millisecond is handed the lock as the head of the line is. If both are due, they take turns.
/// Use it for: anything. Do not use it for: locks that must keep the order of arrival (mcs_lock).
/// Cost: lock() is one atomic read-modify-write, unlock() some plain accesses, both inlined; a sleep and wake takes
/// 5..60 us.
/// Named requirements: TimedLockable. Thread-safe; not recursive; constant-initialised; all bits zero is an unlocked
/// lock; 8 bytes. The next owner may destroy it as soon as it has locked and unlocked it.
/// In the child of a fork, waiters notice within 10 ms that a waiter before them was a thread of the parent. There are
/// 256 sleeping places, which all locks share. If a living waiter of any lock sleeps at the same place, they notice it
/// when that waiter has left.
/// The line has room for 4,095 threads. Further threads look at the lock after 20 ms, and then at intervals that grow
/// to 640 ms. Outside the line there is room for 31 threads. Further ones look at intervals that grow from 20 us to 160
/// ms. No bound holds for these threads.
class TXSYNC_CAPABILITY("mutex") futex_mutex : public detail::timed<futex_mutex> {
 public:
  constexpr futex_mutex() noexcept = default;
  futex_mutex(const futex_mutex&) = delete;
  futex_mutex& operator=(const futex_mutex&) = delete;

  /// The maximum number of other threads' critical sections between the moment at which a waiter is in line and its own
  /// section. `threads` is the number of threads that use the lock.
  static constexpr std::uint64_t bypass_bound(std::uint64_t threads) noexcept {
    return threads * ((max_age + 1) * turns_in_all + threads + 1);
  }

  void lock() noexcept TXSYNC_LOCKS {
    if (!acquire_if_free()) [[unlikely]]
      lock_slow(machine::no_deadline);
  }
  /// A waiter runs `task` before it spins. Returns false if the thread does not have the lock but is
  /// in an always-abort attempt.
  bool lock(wait_task& task) noexcept TXSYNC_TRY_LOCKS { return acquire_if_free() || lock_slow(task); }

  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS {
    // It looks first, so that a failing try does not write.
    return !is_held() && acquire_if_free();
  }

  /// Tries until machine::clock_ns() reaches the deadline.
  [[nodiscard]] bool try_lock_until_ns(std::uint64_t deadline) noexcept TXSYNC_TRY_LOCKS {
    return acquire_if_free() || lock_slow(deadline);
  }

  /// How waiters wait before they are in line, and at its head.
  enum class waits : std::uint8_t { parking, spinning };

  /// Requires: the calling thread holds the lock.
  [[gnu::always_inline]] void unlock() noexcept TXSYNC_UNLOCKS {
    unlock([this]() noexcept { unlock_marked(); });
  }
  /// For a type that is built on this one: the same, except that it calls `if_marked` if the holder has called mark().
  /// `if_marked` has to call unlock_marked().
  template <class Call>
  [[gnu::always_inline]] void unlock(Call if_marked) noexcept TXSYNC_UNLOCKS {
    TXSYNC_ASSERT(is_held(), "the calling thread holds the lock");
    const std::uint32_t mine = machine::holders_byte(word_);
    if (mine >= last_turn_byte) [[unlikely]] {
      if ((mine & marked_byte) != 0) return if_marked();
      return unlock_slow();
    }
    if (!machine::release_unless_waited(word_, static_cast<std::uint16_t>((mine + 1) << 8))) [[unlikely]]
      unlock_slow();
  }
  /// unlock() that hands the lock over if a thread is in line, as if the head of the line were past its deadline
  /// (lock_api's unlock_fair()). Requires: as unlock(). Cost: one more atomic instruction; a hand-over if a thread
  /// waits.
  void unlock_fair() noexcept TXSYNC_UNLOCKS {
    TXSYNC_ASSERT(is_held(), "the calling thread holds the lock that it hands over");
    release(true);
  }

  /// Whether a thread is in line or outside it, at some moment during the call.
  // relaxed: nothing is decided by it
  bool is_waited_for() const noexcept {
    return (word_.load(std::memory_order_relaxed) & (line | head | aside_bits)) != 0;
  }
  /// Whether a thread holds it, at some moment during the call. A speculative attempt subscribes to this.
  // relaxed: an attempt orders the reads in it, and other callers decide nothing by it
  bool is_held() const noexcept { return machine::is_taken(word_); }

  /// For a type that is built on this one: unlock(), whether or not the holder has called mark(). One more atomic
  /// instruction.
  void unlock_marked() noexcept { unlock_slow(); }
  /// For a type that is built on this one: sets a flag that belongs to the holder. unlock() clears it.
  void mark() noexcept { word_.fetch_or(marked, std::memory_order_relaxed); }  // relaxed: only the holder looks

  /// The slow path of lock(), for a type that is built on this one. False only if the deadline has passed.
  TXSYNC_EXPORT bool lock_slow(std::uint64_t deadline, waits how = waits::parking) noexcept;
  /// The same without a deadline; returns false as lock(wait_task&) does.
  TXSYNC_EXPORT bool lock_slow(wait_task& task, waits how = waits::parking) noexcept;

  /// For a type that is built on this one and counts waits: what a waiter has seen before it stands in line. `begin`
  /// and `end` are in machine::cycles(), from readings that its pauses take anyway. Both are 0 if it has not paused
  /// (one CPU).
  struct arrival {
    std::uint64_t word = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  /// The first of two steps of lock_slow(): spins, and fills `seen`. True: the calling thread has the lock.
  TXSYNC_EXPORT bool lock_spinning(arrival& seen, waits how = waits::parking) noexcept;
  /// The second step, after lock_spinning(). False only if the deadline has passed.
  TXSYNC_EXPORT bool lock_after(const arrival& seen, std::uint64_t deadline, waits how = waits::parking) noexcept;
  bool acquire_if_free() noexcept {
    return machine::take_if_free(word_);  // pairs with the release of release_unless_waited() and unlock_slow()
  }

  /// For tests of the bound: the critical section counts as `turns` more turns. Requires: the calling thread holds the
  /// lock.
  void count_more_turns(std::uint32_t turns) noexcept {
    TXSYNC_ASSERT(is_held(), "the calling thread holds the lock whose turns it counts");
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed, both: only the holder changes its bits
    while (!word_.compare_exchange_weak(seen, with_more_turns(seen, turns), std::memory_order_relaxed)) {
    }
  }

 private:
  // The holder's 16 bits. The lower byte is `held`. The upper byte counts how often the lock was given up; an overflow
  // of that count adds to the head's age. Its highest bit is a mark. lock() writes the lower byte and reads no other;
  // unlock() reads the upper one. So neither waits for what the other has stored just before (machine/restartable.hpp).
  static constexpr std::uint64_t held = 1;
  static constexpr std::uint64_t turn = 0x100;
  static constexpr std::uint64_t turn_bits = 0x7F00;
  static constexpr std::uint64_t turns_in_all = turn_bits / turn + 1;
  static constexpr std::uint64_t marked = 0x8000;
  static constexpr std::uint64_t holders_bits = 0xFFFF;
  static constexpr std::uint32_t last_turn_byte = turn_bits >> 8;  // marked or not; from here on unlock() is slow
  static constexpr std::uint32_t marked_byte = marked >> 8;
  // The line: the first number that is not granted, and the first number that is not drawn. A waiter in line goes
  // through these states:
  //     in line    its number is drawn           -> head, when an unlock grants the number
  //     head       `head`                        -> owner, if it finds the lock free; else asleep or overdue
  //     asleep     `head` and `sleeping`         -> head, when the long section ends, or at its timer
  //     overdue    `head` and `overdue`          -> reserved, at the next unlock
  //     reserved   `given_to_head` and `held`    -> owner, when it claims the lock
  static constexpr std::uint16_t number_bits = 0x1FFF;
  static constexpr unsigned granted_shift = 16;
  static constexpr unsigned drawn_shift = 29;
  static constexpr std::uint64_t granted_bits = std::uint64_t{number_bits} << granted_shift;
  static constexpr std::uint64_t drawn_bits = std::uint64_t{number_bits} << drawn_shift;
  static constexpr std::uint16_t max_line = number_bits / 2;
  static constexpr std::uint64_t older = std::uint64_t{1} << 42;  // overflows of `turn` under this head
  static constexpr std::uint64_t max_age = 255;
  static constexpr std::uint64_t age_bits = max_age * older;
  // What unlock() checks. `quiet` is the sign bit. If unlock() has to do more than give the lock up, the upper half is
  // greater than zero as a signed number.
  static constexpr std::uint64_t line = std::uint64_t{1} << 50;            // some drawn numbers are not granted
  static constexpr std::uint64_t head = std::uint64_t{1} << 51;            // there is a head
  static constexpr std::uint64_t sleeping = std::uint64_t{1} << 52;        // the head sleeps until the lock is given up
  static constexpr std::uint64_t overdue = std::uint64_t{1} << 53;         // the head is past its deadline
  static constexpr std::uint64_t given_to_head = std::uint64_t{1} << 54;   // the lock is reserved for the head
  static constexpr std::uint64_t given_to_aside = std::uint64_t{1} << 55;  // the lock is reserved for a waiter aside
  static constexpr std::uint64_t urgent = std::uint64_t{1} << 56;          // one of them has a real-time priority
  static constexpr std::uint64_t pressing = std::uint64_t{1} << 57;        // one of them has waited for long enough
  static constexpr std::uint64_t aside = std::uint64_t{1} << 58;           // number of waiters outside the line
  static constexpr std::uint64_t aside_bits = std::uint64_t{0x1F} << 58;
  static constexpr std::uint64_t quiet = std::uint64_t{1} << 63;
  static constexpr std::uint64_t heads_bits = head | sleeping | overdue | age_bits | given_to_head;

  static constexpr std::uint16_t released(std::uint64_t seen) noexcept {
    return static_cast<std::uint16_t>((seen + turn) & turn_bits);
  }
  static constexpr bool is_last_turn(std::uint64_t seen) noexcept { return (seen & turn_bits) == turn_bits; }
  static constexpr std::uint16_t number(std::uint64_t any) noexcept {
    return static_cast<std::uint16_t>(any & number_bits);
  }
  static constexpr std::uint16_t granted(std::uint64_t seen) noexcept { return number(seen >> granted_shift); }
  static constexpr std::uint16_t drawn(std::uint64_t seen) noexcept { return number(seen >> drawn_shift); }
  /// The number of the head.
  static constexpr std::uint16_t head_of(std::uint64_t seen) noexcept { return number(granted(seen) - 1u); }
  /// Requires: the number was drawn, at most max_line numbers ago.
  static constexpr bool is_granted(std::uint64_t seen, std::uint16_t drawn_number) noexcept {
    TXSYNC_ASSERT_VALUE(number(drawn(seen) - 1u - drawn_number) <= max_line,
                        "the number was drawn, at most max_line numbers ago");
    return number(granted(seen) - 1u - drawn_number) < max_line;
  }
  static constexpr bool is_same_section(std::uint64_t one, std::uint64_t later) noexcept {
    return (one & later & held) != 0 && ((one ^ later) & (turn_bits | age_bits)) == 0;
  }
  /// How many sections have ended in between, as far as the word counts them.
  static constexpr std::uint64_t sections_between(std::uint64_t one, std::uint64_t later) noexcept {
    return ((one ^ later) & age_bits) != 0 ? turns_in_all : ((later - one) & turn_bits) / turn;
  }
  static constexpr std::uint64_t with_more_turns(std::uint64_t seen, std::uint64_t turns) noexcept {
    const std::uint64_t all = (seen & turn_bits) / turn + turns;
    const std::uint64_t at_most = all < turns_in_all ? all : turns_in_all - 1;
    const std::uint64_t overflows = (all - at_most + turns_in_all - 1) / turns_in_all;
    const std::uint64_t age = (seen & age_bits) / older + ((seen & head) != 0 ? overflows : 0);
    return (seen & ~(turn_bits | age_bits)) | at_most * turn | (age < max_age ? age : max_age) * older;
  }
  static constexpr std::uint64_t settled(std::uint64_t word) noexcept;
  static constexpr std::uint64_t with_next_head(std::uint64_t word) noexcept;

  enum class waiter : std::uint8_t { newcomer, head };
  struct told {
    bool head = false;
    bool aside = false;
  };
  static std::uint64_t given_up(std::uint64_t seen, bool fair, told& whom) noexcept;
  bool take(std::uint64_t& seen, waiter who) noexcept;
  bool claim(std::uint64_t& seen, waiter who) noexcept;
  struct spinning;
  struct waiting;
  static const waiting& chosen(waits how) noexcept;
  bool spin(const spinning& how, waiter who, arrival* times = nullptr) noexcept;
  bool draw(std::uint16_t& mine) noexcept;
  void wait_in_line(const waiting& how, std::uint64_t before) noexcept;
  void await_grant(std::uint16_t mine) noexcept;
  void lead(const waiting& how, std::uint16_t mine, std::uint64_t arrived_ns, std::uint64_t before) noexcept;
  void lead_overdue(std::uint16_t mine) noexcept;
  bool sleep_until_given_up(detail::sleeping_place& place, std::uint64_t until_ns) noexcept;
  bool wait_aside(std::uint64_t deadline, bool realtime) noexcept;
  enum class joined : std::uint8_t { got_lock, waits, late };
  joined join_aside(std::uint64_t deadline, std::uint64_t how) noexcept;
  std::uint64_t without_dead_aside(std::uint64_t word) const noexcept;
  bool is_head_dead(std::uint64_t word) const noexcept;
  void replace_the_dead() noexcept;
  TXSYNC_EXPORT void release(bool fair) noexcept;
  TXSYNC_EXPORT void unlock_slow() noexcept;

  machine::lock_word word_{0};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
