// SPDX-License-Identifier: Apache-2.0
// Why no wake-up is lost:
//  - One exchange on the word counts a thread as a sleeper and looks at the lock for the last time. The thread parks
//    only while the high half is unchanged.
//  - A thread that leaves the lock empty while sleepers are counted sets `waking` in the same exchange. That changes
//    the high half. Then it wakes.
//  - Nobody sleeps while `waking` is set. A thread that finds it set, woken or about to sleep, clears it and looks at
//    the lock again. If it then enters, its own leaving wakes the next sleeper.
//  - A sleeper that gives up passes a wake-up on.
//
// Why no hand-over is lost: the exchange that leaves the lock also hands it over, and changes the high half. It
// reserves the lock for sleepers of one kind. `writer` is set, so that nobody else gets in, and a bit says for whom.
// Nobody joins the sleepers while the lock is reserved. So the exchange has counted all sleepers, and knows whether one
// wake-up reaches a writer. No newcomer, such as the thread that has just left, can take the lock from a sleeper that
// is about to wake up. At least one sleeper of the kind is there, and it goes away only by entering.
//  - A writer clears `given_to_writer` and keeps `writer`.
//  - The first reader clears `writer`. `given_to_readers` stays until all sleeping readers are inside: they enter even
//    if writers sleep. If a late reader finds the lock left empty before, the lock is handed over once more.
//
// A sleeper asks for a hand-over once, when its timer ends, and then sleeps on without a timer. Another sleeper may be
// served instead. Later releases wake the sleepers in turn. A sleeper that finds its request gone asks again.
//
// The low half alone ensures exclusion. The high half may be wrong if processes share the lock without being allowed to
// (docs/limits.md). One of them then forgets the other's sleepers, which find nothing to take off.
#include <algorithm>

#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/thread.hpp>

#include "backoff.hpp"
#include "patience.hpp"
#include "waiter_limits.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {
constexpr std::uint64_t spin_budget = 20'000;  // cycles
constexpr std::uint64_t shortest_pause = 128;
constexpr std::uint64_t max_pause = 4'096;
constexpr std::uint64_t nap_ns = 1'000'000;
constexpr std::uint64_t max_nap_ns = 640'000'000;  // for the thousands that the word has no room for
// While the lock is given to a writer that is waking up.
constexpr std::uint64_t min_given_nap_ns = 20'000;
constexpr std::uint64_t max_given_nap_ns = 1'000'000;
}  // namespace

/// How many to wake. All of them if a reader sleeps: the system cannot wake threads of one kind alone.
unsigned futex_rwlock::woken_of(std::uint64_t seen) noexcept {
  return (seen & sleeping_readers_bits) != 0 ? machine::everyone : 1;
}

/// A thread that wants to enter.
struct futex_rwlock::party {
  std::uint64_t closed;    // bits that keep the thread outside
  std::uint64_t entered;   // what the thread adds when it enters
  std::uint64_t sleeping;  // what it adds when it is counted as a sleeper
  std::uint64_t overdue;   // what it sets when it has waited for long enough
  std::uint64_t given;     // what is set while the lock is reserved for its kind
  bool is_asleep = false;  // the thread is counted as a sleeper

  std::uint64_t asleep_in(std::uint64_t seen) const noexcept { return seen / sleeping & max_asleep; }
  /// The word without this sleeper in its count.
  std::uint64_t without_me(std::uint64_t seen) const noexcept {
    const std::uint64_t left = asleep_in(seen) != 0 ? seen - sleeping : seen;
    return asleep_in(left) != 0 ? left : left & ~overdue;
  }
  bool is_kept_out_by_readers(std::uint64_t seen) const noexcept { return entered == reader && (seen & full) != 0; }
  bool is_given(std::uint64_t seen) const noexcept {
    return is_asleep && (seen & given) != 0 && !is_kept_out_by_readers(seen);
  }
  /// The word after this thread has entered.
  std::uint64_t with_me_inside(std::uint64_t seen) const noexcept {
    if (!is_asleep) return seen + entered;
    // A wake-up under way ends at a sleeper: the sleeper's leaving wakes the next one.
    std::uint64_t left = without_me(seen) & ~waking;
    if ((seen & given) != 0) left &= ~writer;
    if (entered == writer || asleep_in(left) == 0) left &= ~given;
    return left + entered;
  }
};

/// In the child of a fork: the word without the parent's sleepers, ready to count those of this process.
std::uint64_t futex_rwlock::without_parents_sleepers(std::uint64_t seen) noexcept {
  const std::uint64_t here = std::uint64_t{machine::fork_count()} << process_shift & process_bits;
  return (seen & process_bits) == here ? seen : without_sleepers(seen) | here;
}

/// Enters if the lock is open to the thread, or given to sleepers of its kind. Reloads `seen` if the word has changed.
bool futex_rwlock::come_in(const party& who, std::uint64_t& seen) noexcept {
  for (;;) {
    if ((seen & who.closed) != 0 && !who.is_given(seen)) return false;
    // acquire pairs with the release of threads that leave
    if (word_.compare_exchange_weak(seen, who.with_me_inside(seen), std::memory_order_acquire,
                                    std::memory_order_relaxed))
      return true;
  }
}

/// Looks at the lock at growing intervals. True when the thread is inside.
bool futex_rwlock::spin(const party& who) noexcept {
  std::uint64_t budget = machine::cpu_count() > 1 ? spin_budget : 1;
  detail::jitter jitter(&budget);
  std::uint64_t pause = shortest_pause;
  for (std::uint64_t spun = 0; spun < budget;) {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: only a look; the exchange decides
    if (come_in(who, seen)) return true;
    const std::uint64_t length = jitter.upto(pause);
    detail::pause_for(length);
    spun += length;
    if (pause < max_pause) pause *= 2;
  }
  return false;
}

/// Requires: the thread is counted as a sleeper. On return it is not: it is inside (true), or late and outside.
bool futex_rwlock::sleep(const party& who, std::uint64_t deadline, std::uint64_t due) noexcept {
  TXSYNC_ASSERT(who.asleep_in(word_.load(std::memory_order_relaxed)) != 0, "the thread is counted as a sleeper");
  bool late = false;
  bool asked = false;
  for (;;) {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchanges decide
    if (come_in(who, seen)) return true;
    if (((seen & waking) != 0 && (seen & inside_bits) == 0) || who.is_kept_out_by_readers(seen)) {
      // A writer that sleeps or is about to keeps this reader outside: the wake-up is for that writer, and must stay.
      // Or readers keep it outside, and only the last of them wakes anybody.
      if (!detail::nap(nap_ns, deadline)) return give_up(who);
      continue;
    }
    if ((seen & waking) != 0) {
      // relaxed: clears a mark, orders nothing
      if (word_.compare_exchange_weak(seen, seen & ~waking, std::memory_order_relaxed) && spin(who)) return true;
      continue;
    }
    if (late) return give_up(who);
    const bool is_due = detail::is_past(due);
    if (is_due && (seen & who.overdue) == 0) {
      // Not at once after another thread was served: hand-overs would follow each other while many sleep.
      if (asked) due = machine::clock_ns() + detail::min_lead_ns;
      // relaxed: orders nothing
      asked = !asked && word_.compare_exchange_weak(seen, seen | who.overdue, std::memory_order_relaxed);
      continue;
    }
    asked = is_due;
    const std::uint64_t until = is_due ? deadline : std::min(deadline, due);
    late =
        machine::park_high(word_, static_cast<std::uint32_t>(seen >> 32), until) == machine::park_result::timed_out &&
        detail::is_past(deadline);
  }
}

/// Leaves the sleepers. If that opens the lock to others, or took their wake-up, wakes them. True: it is inside.
bool futex_rwlock::give_up(const party& who) noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  std::uint64_t next;
  do {
    if (come_in(who, seen)) return true;
    next = who.without_me(seen) & ~waking;
    if (who.asleep_in(next) == 0) next &= ~who.given;
    // Readers that this writer kept outside may enter now, whichever threads read inside.
    const bool open = (next & writer) == 0 && ((next & inside_bits) == 0 || who.entered == writer);
    if (open && (next & sleepers_bits) != 0) next |= waking;
    // relaxed: this thread has not been inside
  } while (!word_.compare_exchange_weak(seen, next, std::memory_order_relaxed, std::memory_order_relaxed));
  if ((next & waking) != 0) machine::unpark_high(word_, woken_of(next));
  return false;
}

/// Counts the thread as a sleeper, if there is room and no sleeper is about to get the lock.
bool futex_rwlock::join_sleepers(party& who) noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  for (;;) {
    const std::uint64_t counted = without_parents_sleepers(seen);
    if (who.asleep_in(counted) >= detail::max_waiters.asleep || (counted & given_bits) != 0 ||
        who.is_kept_out_by_readers(seen))
      return false;
    // relaxed: only its place in the order of the word's changes matters
    if (word_.compare_exchange_weak(seen, counted + who.sleeping, std::memory_order_relaxed)) {
      who.is_asleep = true;
      return true;
    }
  }
}

bool futex_rwlock::enter(party who, std::uint64_t deadline) noexcept {
  if (spin(who)) return true;
  const std::uint64_t due = machine::clock_ns() + detail::max_wait_ns;
  detail::doubling naps_ns(nap_ns, max_nap_ns);
  detail::doubling given_naps_ns(min_given_nap_ns, max_given_nap_ns);
  for (;;) {
    if (join_sleepers(who)) return sleep(who, deadline, due);
    // relaxed: only decides how long to nap
    const bool is_given = (word_.load(std::memory_order_relaxed) & given_bits) != 0;
    if (!detail::nap((is_given ? given_naps_ns : naps_ns).next(), deadline)) return false;
    if (spin(who)) return true;
  }
}

bool futex_rwlock::lock_slow(std::uint64_t deadline) noexcept {
  return machine::annotate_unseen_acquire_if(
      enter({inside_bits, writer, sleeping_writer, overdue_writer, given_to_writer}, deadline), &word_);
}

bool futex_rwlock::lock_shared_slow(admit how, std::uint64_t deadline) noexcept {
  return machine::annotate_unseen_acquire_if(
      enter({closed_to_readers(how), reader, sleeping_reader, overdue_reader, given_to_readers}, deadline), &word_);
}

/// The word of a lock that is left empty with `left` in it, and how many sleepers to wake.
std::uint64_t futex_rwlock::handed_on(std::uint64_t left, bool by_writer, unsigned& woken) noexcept {
  if (without_parents_sleepers(left) != left || (left & sleepers_bits) == 0) return 0;
  // The lock was given to readers, of which some are not inside yet. Or to any, if a thread unlocks that is not inside.
  left &= ~given_bits;
  const bool to_readers = (left & overdue_reader) != 0 && (left & sleeping_readers_bits) != 0;
  const bool to_writer = (left & overdue_writer) != 0 && (left & sleeping_writers_bits) != 0;
  if (to_readers || to_writer) {
    woken = woken_of(left);
    left = (left & ~waking) | writer;
    return to_readers && (by_writer || !to_writer) ? left | given_to_readers
                                                   : (left & ~overdue_writer) | given_to_writer;
  }
  if ((left & waking) == 0) woken = woken_of(left);
  return left | waking;
}

bool futex_rwlock::leave_empty(std::uint64_t who) noexcept {
  machine::annotate_unseen_release(&word_);
  const std::uint64_t all_of_these = who == writer ? writer : readers_bits;
  std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  std::uint64_t next;
  unsigned woken;
  do {
    if ((seen & all_of_these) == 0) return false;
    woken = 0;
    next = seen - who;
    if ((next & inside_bits) == 0) next = handed_on(next, who == writer, woken);
    // release pairs with the acquire of threads that enter
  } while (!word_.compare_exchange_weak(seen, next, std::memory_order_release, std::memory_order_relaxed));
  // By address only: the lock may be gone.
  if (woken != 0) machine::unpark_high(word_, woken);
  return true;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND
