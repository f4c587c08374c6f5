// SPDX-License-Identifier: Apache-2.0
// Why no wake-up is lost: a thread is counted as a sleeper by the same exchange on the word that looks at the lock for
// the last time, and parks only while the high half is as it was then. Whoever leaves the lock empty with sleepers in
// the count sets `waking` in the same step, which changes the high half, and wakes. Nobody sleeps while `waking` is
// set: whoever meets it, woken or about to sleep, turns it off and looks at the lock again, and if it then enters, its
// own leaving wakes the next. A sleeper that gives up hands a wake-up on. Sleepers that do not exist (of the parent, in
// the child of a fork) cost a wake-up in vain, once.
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/thread.hpp>

#include "backoff.hpp"

namespace txsync::inline TXSYNC_BACKEND {

namespace {
constexpr std::uint64_t spin_budget = 20'000;  // cycles
constexpr std::uint64_t shortest_pause = 128;
constexpr std::uint64_t longest_pause = 4'096;
constexpr std::uint64_t most_sleepers = 0xFFF;
constexpr std::uint64_t nap_ns = 1'000'000;
constexpr std::uint64_t max_nap_ns = 640'000'000;  // of thousands that the word has no room for
}  // namespace

/// By address only: the lock may be gone. All, where a reader sleeps: the system cannot wake readers alone.
void futex_rwlock::wake(std::uint64_t seen) noexcept {
  machine::unpark_high(word_, (seen & sleeping_readers_bits) != 0 ? machine::everyone : 1);
}

/// Looks at the lock at growing distances. True when it entered, together with `given_back` from the sleepers' bits.
bool futex_rwlock::spin(const party& who, std::uint64_t given_back) noexcept {
  std::uint64_t budget = machine::cpu_count() > 1 ? spin_budget : 1;
  detail::jitter jitter(&budget);
  std::uint64_t pause = shortest_pause;
  for (std::uint64_t spent = 0; spent < budget;) {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: a look; the exchange decides
    while (((seen - given_back) & who.closed) == 0) {
      // A sleeper that enters ends a wake-up that may be under way, as in sleep(). acquire pairs with leave()
      const std::uint64_t ended = given_back != 0 ? waking : 0;
      if (word_.compare_exchange_weak(seen, ((seen - given_back) & ~ended) + who.entered, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return true;
    }
    const std::uint64_t length = jitter.upto(pause);
    detail::pause_for(length);
    spent += length;
    if (pause < longest_pause) pause *= 2;
  }
  return false;
}

/// Requires: counted as a sleeper. Not any more when it returns: it is inside (true), or late and outside.
bool futex_rwlock::sleep(const party& who, std::uint64_t deadline) noexcept {
  bool late = false;
  for (;;) {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchanges decide
    if (((seen - who.sleeping) & who.closed) == 0) {
      // A wake-up under way ends here: this thread's leaving wakes the next. acquire pairs with leave()
      if (word_.compare_exchange_weak(seen, ((seen - who.sleeping) & ~waking) + who.entered, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return true;
    } else if (((seen & waking) != 0 && (seen & inside_bits) == 0) || who.is_kept_out_by_readers(seen)) {
      // Closed to this reader by a writer that sleeps, or is about to: the wake-up is that one's, and must stay. Or by
      // readers, who wake nobody but the last of them.
      if (!detail::nap(nap_ns, deadline)) {
        give_up(who);
        return false;
      }
    } else if ((seen & waking) != 0) {
      // relaxed: takes a mark off, orders nothing
      if (word_.compare_exchange_weak(seen, seen & ~waking, std::memory_order_relaxed) && spin(who, who.sleeping))
        return true;
    } else if (late) {
      give_up(who);
      return false;
    } else {
      late = machine::park_high(word_, static_cast<std::uint32_t>(seen >> 32), deadline) ==
             machine::park_result::timed_out;
    }
  }
}

/// Leaves the sleepers; where that opens the lock to others, or took their wake-up, wakes them.
void futex_rwlock::give_up(const party& who) noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  std::uint64_t next;
  do {
    next = (seen - who.sleeping) & ~waking;
    // Readers that stayed outside because of this writer may go in now, whoever reads inside.
    const bool open = (next & writer) == 0 && ((next & inside_bits) == 0 || who.entered == writer);
    if (open && (next & sleepers_bits) != 0) next |= waking;
    // relaxed: this thread has not been inside
  } while (!word_.compare_exchange_weak(seen, next, std::memory_order_relaxed, std::memory_order_relaxed));
  if ((next & waking) != 0) wake(next);
}

bool futex_rwlock::enter(const party& who, std::uint64_t deadline) noexcept {
  const std::uint64_t most = who.sleeping * most_sleepers;
  detail::doubling naps_ns(nap_ns, max_nap_ns);
  for (;;) {
    if (spin(who, 0)) return true;
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    while ((seen & most) != most && !who.is_kept_out_by_readers(seen)) {
      // relaxed: its place in the word's order is what counts
      if (word_.compare_exchange_weak(seen, seen + who.sleeping, std::memory_order_relaxed))
        return sleep(who, deadline);
    }
    // No room to be counted, or to come in: see sleep().
    if (!detail::nap(naps_ns.next(), deadline)) return false;
  }
}

bool futex_rwlock::lock_slow(std::uint64_t deadline) noexcept {
  return machine::annotate_unseen_acquire_if(enter({inside_bits, writer, sleeping_writer}, deadline), &word_);
}

bool futex_rwlock::lock_shared_slow(admit how, std::uint64_t deadline) noexcept {
  return machine::annotate_unseen_acquire_if(enter({closed_to_readers(how), reader, sleeping_reader}, deadline),
                                             &word_);
}

}  // namespace txsync::inline TXSYNC_BACKEND
