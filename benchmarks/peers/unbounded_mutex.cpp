// SPDX-License-Identifier: Apache-2.0
// Why no wake-up is lost:
//  - A thread that sleeps is counted in the word before it reads the lock for the last time. membarrier_releases()
//    stands between the two. So either that read sees a release by plain stores, or the release sees the count.
//  - unlock wakes no thread only if none sleeps, or if the word says that a thread watches (or is being woken). There
//    is one watcher. One read-modify-write clears its mark and makes it the holder (then its unlock sees the sleepers)
//    or a sleeper (then it looks at the lock once more, as above).
#include "peers/unbounded_mutex.hpp"

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

#include "locks/backoff.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

// Found with ./dev bench locks. Pauses and budgets are in machine::cycles().
constexpr std::uint64_t arrival_budget = 20'000;
constexpr std::uint64_t watcher_budget = 5'000;
constexpr std::uint64_t min_pause = 128;
constexpr std::uint64_t max_pause = 8'192;
constexpr std::uint64_t min_nap_ns = 20'000;
constexpr std::uint64_t max_nap_ns = 1'000'000;

/// With one CPU the holder cannot run while another thread spins.
std::uint64_t budget(std::uint64_t cycles) noexcept { return machine::cpu_count() > 1 ? cycles : 1; }

}  // namespace

/// Acquires if `seen` says free, with `changed` as the new word's other bits. Reloads `seen` when it fails.
bool unbounded_mutex::take(std::uint64_t& seen, std::uint64_t changed) noexcept {
  // acquire pairs with the release of release_unless_waited() and unlock_slow()
  return word_.compare_exchange_strong(seen, changed | held, std::memory_order_acquire, std::memory_order_relaxed);
}

/// Reads the lock at growing intervals. True when it got the lock, together with `taken_back` from the waiters' bits.
bool unbounded_mutex::spin(std::uint64_t cycles, std::uint64_t taken_back) noexcept {
  detail::jitter jitter(&cycles);
  std::uint64_t pause = min_pause;
  for (std::uint64_t spent = 0; spent < cycles;) {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: a look only
    while ((seen & held) == 0) {
      if (take(seen, seen & ~taken_back)) return true;
    }
    const std::uint64_t length = jitter.upto(pause);
    detail::pause_for(length);
    spent += length;
    if (pause < max_pause) pause *= 2;
  }
  return false;
}

unbounded_mutex::outcome unbounded_mutex::become_watcher() noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  while ((seen & watched) == 0) {
    // relaxed: spares others the wake-up, orders nothing
    if (word_.compare_exchange_weak(seen, seen | watched, std::memory_order_relaxed)) return outcome::watch;
  }
  return outcome::sleep;
}

/// Requires: the caller is the watcher. It still is when it is to sleep.
unbounded_mutex::outcome unbounded_mutex::watch() noexcept {
  std::uint64_t nap = min_nap_ns;
  for (;;) {
    const std::uint64_t before = word_.load(std::memory_order_relaxed);  // relaxed: a look only
    if (spin(budget(watcher_budget), watched)) return outcome::got_lock;
    machine::sleep_ns(nap);
    const std::uint64_t after = word_.load(std::memory_order_relaxed);  // relaxed: a look only
    // The same section has been inside since before the nap: it is long, so its unlock may wake this thread.
    if ((before & after & held) != 0 && (before & turn_bits) == (after & turn_bits)) return outcome::sleep;
    if (nap < max_nap_ns) nap *= 2;
  }
}

/// Becomes a sleeper, with `taken_back` from the waiters' bits, and is no longer one when it returns.
unbounded_mutex::outcome unbounded_mutex::sleep(std::uint64_t taken_back) noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchanges below decide
  for (;;) {
    if ((seen & held) == 0) {
      if (take(seen, seen & ~taken_back)) return outcome::got_lock;
    } else if (word_.compare_exchange_weak(seen, (seen + sleeper) & ~taken_back, std::memory_order_seq_cst,
                                           std::memory_order_relaxed)) {
      break;
    }
  }
  machine::membarrier_releases();
  seen = word_.load(std::memory_order_relaxed);  // relaxed: ordered after the count by membarrier_releases()
  for (;;) {
    if ((seen & held) == 0) {
      // A wake-up under way ends here: this thread's unlock will wake the next.
      const std::uint64_t ended = (seen & waking) != 0 ? waking | watched : 0;
      if (take(seen, (seen - sleeper) & ~ended)) return outcome::got_lock;
    } else if ((seen & waking) != 0) {
      // relaxed: passes a mark on, orders nothing
      if (word_.compare_exchange_weak(seen, (seen - sleeper) & ~waking, std::memory_order_relaxed)) {
        return outcome::watch;
      }
    } else {
      machine::park_high(word_, static_cast<std::uint32_t>(seen >> 32), machine::no_deadline);
      seen = word_.load(std::memory_order_relaxed);  // relaxed: a look; the exchange that follows orders
    }
  }
}

void unbounded_mutex::lock_slow() noexcept {
  if (spin(budget(arrival_budget), 0)) return;
  outcome next = become_watcher();
  std::uint64_t role = next == outcome::watch ? watched : 0;
  while (next != outcome::got_lock) {
    next = next == outcome::watch ? watch() : sleep(role);
    // On the way from watching to sleeping, sleep() clears the mark; on the way from sleeping to watching, it was
    // handed over.
    role = watched;
  }
}

void unbounded_mutex::unlock_slow() noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  for (;;) {
    const bool wake = (seen & sleepers_bits) != 0 && (seen & (watched | waking)) == 0;
    const std::uint64_t next = (seen & ~holders_bits) | released(seen) | (wake ? watched | waking : 0);
    // release pairs with the acquire of the next owner
    if (word_.compare_exchange_weak(seen, next, std::memory_order_release, std::memory_order_relaxed)) {
      if (wake) machine::unpark_high(word_, 1);  // by address only: the word may be gone
      return;
    }
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
