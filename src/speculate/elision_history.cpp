// SPDX-License-Identifier: Apache-2.0
#include "speculate/elision_history.hpp"

#include <algorithm>
#include <atomic>

#include <txsync/machine/cpu.hpp>

#include "speculate/thread_memory.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

namespace {

/// So many failures in a row have no effect yet. With trials, a section that fits only now and then should not make its
/// thread take the lock more often, which aborts others.
unsigned forgiven(const elision_policy& policy) noexcept { return policy.adapts == adaptation::trial ? 4 : 0; }

unsigned hash_of(const void* lock, unsigned bits) noexcept {
  // Multiplicative hashing (Knuth, vol. 3, 6.4).
  const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(lock) * 0x9E3779B97F4A7C15u;
  return static_cast<unsigned>(mixed >> (64 - bits));
}
unsigned place_of(const void* lock) noexcept { return hash_of(lock, thread_memory::table_bits); }

/// glibc's adapt_count: how many sections of all threads take the lock before the next attempt. Each has a line of its
/// own, as locks have.
struct alignas(machine::pad_bytes) shared_skips {
  std::atomic<std::uint16_t> left{0};
};
constexpr unsigned skip_bits = 8;
constinit shared_skips skips[1u << skip_bits];

std::atomic<std::uint16_t>& skips_of(const void* lock) noexcept { return skips[hash_of(lock, skip_bits)].left; }

/// Relaxed throughout, here and below: the count only decides how a section is run. As in glibc, one of two concurrent
/// changes may be lost.
bool skips_one(const void* lock) noexcept {
  std::atomic<std::uint16_t>& left = skips_of(lock);
  const std::uint16_t count = left.load(std::memory_order_relaxed);
  if (count == 0) return false;
  left.store(static_cast<std::uint16_t>(count - 1), std::memory_order_relaxed);
  return true;
}

void skip_next(const void* lock, std::uint16_t sections) noexcept {
  std::atomic<std::uint16_t>& left = skips_of(lock);
  // relaxed: see skips_one(). A value that is there already is not written, since others read the line.
  if (left.load(std::memory_order_relaxed) != sections) left.store(sections, std::memory_order_relaxed);
}

bool uses_badness(const elision_policy& policy) noexcept {
  return policy.adapts == adaptation::badness || policy.adapts == adaptation::trial;
}

}  // namespace

elision_history* elision_history_of(const void* lock) noexcept {
  thread_memory* const mine = my_memory();
  return mine != nullptr ? &mine->table[place_of(lock)] : nullptr;
}

elision_history& elision_history_in_attempt(const void* lock) noexcept {
  return my_memory_if_any()->table[place_of(lock)];
}

void forget_elision_history() noexcept {
  if (thread_memory* const mine = my_memory_if_any()) std::ranges::fill(mine->table, elision_history{});
  for (shared_skips& one : skips) one.left.store(0, std::memory_order_relaxed);  // relaxed: see skips_one()
}

bool wants_attempt(elision_history& mine, const void* lock, const elision_policy& policy) noexcept {
  if (uses_badness(policy)) return mine.badness == 0 || (++mine.sections & mine.badness >> forgiven(policy)) == 0;
  return policy.adapts != adaptation::skip_after_failure || !skips_one(lock);
}

std::uint32_t attempts_now(const elision_history& mine, const elision_policy& policy) noexcept {
  if (policy.adapts != adaptation::retry_limit) return policy.attempts;
  return policy.attempts > mine.attempt_deficit ? policy.attempts - mine.attempt_deficit : 1;
}

void attempt_aborted(elision_history& mine, const elision_policy& policy) noexcept {
  mine.commits = 0;
  if (policy.adapts == adaptation::retry_limit) {
    mine.attempt_deficit = static_cast<std::uint8_t>(std::min<std::uint32_t>(policy.attempts - 1, 255));
  }
}

void attempts_failed(elision_history& mine, const void* lock, const elision_policy& policy, failure why) noexcept {
  // A thread that takes the lock aborts all others. If trials tell whether elision pays, conflicts are no reason to
  // take it more often.
  if (policy.adapts == adaptation::trial && why != failure::hopeless) return;
  if (uses_badness(policy)) {
    const unsigned most = (policy.max_badness + 1u) << forgiven(policy);
    mine.badness = static_cast<std::uint16_t>(std::min(most, mine.badness * 2u + 2) - 1);
  } else if (policy.adapts == adaptation::skip_after_failure && why != failure::conflicts) {
    skip_next(lock, why == failure::busy ? policy.skip_after_busy : policy.skip_after_abort);
  }
}

void attempt_committed(elision_history& mine, const elision_policy& policy, unsigned sections) noexcept {
  if (mine.badness != 0) mine.badness = 0;
  if (policy.adapts == adaptation::retry_limit && mine.attempt_deficit != 0) --mine.attempt_deficit;
  if (policy.max_sections <= 1) return;
  if (mine.commits < policy.coarsens_after) {
    ++mine.commits;
  } else if (sections >= mine.coarsening_factor) {
    mine.coarsening_factor =
        static_cast<std::uint8_t>(std::min<unsigned>(policy.max_sections, mine.coarsening_factor * 2u));
  }
}

void coarse_attempt_aborted(elision_history& mine, bool too_large) noexcept {
  mine.coarsening_factor = too_large ? std::max<std::uint8_t>(1, mine.coarsening_factor / 2) : 1;
  if (!too_large) mine.commits = 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
