// SPDX-License-Identifier: Apache-2.0
#include "speculate/experience.hpp"

#include <algorithm>
#include <atomic>

#include <txsync/machine/cpu.hpp>

#include "speculate/thread_memory.hpp"

namespace txsync::inline TXSYNC_BACKEND::detail {

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

experience* experience_of(const void* lock) noexcept {
  thread_memory* const mine = my_memory();
  return mine != nullptr ? &mine->table[place_of(lock)] : nullptr;
}

experience& experience_in_attempt(const void* lock) noexcept { return my_memory_if_any()->table[place_of(lock)]; }

void forget_experience() noexcept {
  if (thread_memory* const mine = my_memory_if_any()) std::ranges::fill(mine->table, experience{});
  for (shared_skips& one : skips) one.left.store(0, std::memory_order_relaxed);  // relaxed: see skips_one()
}

bool wants_attempt(experience& mine, const void* lock, const elision_policy& policy) noexcept {
  if (uses_badness(policy)) return mine.badness == 0 || (++mine.turns & mine.badness >> forgiven(policy)) == 0;
  return policy.adapts != adaptation::skip_after_failure || !skips_one(lock);
}

std::uint32_t attempts_now(const experience& mine, const elision_policy& policy) noexcept {
  if (policy.adapts != adaptation::retry_limit) return policy.attempts;
  return policy.attempts > mine.missing ? policy.attempts - mine.missing : 1;
}

void attempt_aborted(experience& mine, const elision_policy& policy) noexcept {
  mine.commits = 0;
  if (policy.adapts == adaptation::retry_limit) {
    mine.missing = static_cast<std::uint8_t>(std::min<std::uint32_t>(policy.attempts - 1, 255));
  }
}

void attempts_failed(experience& mine, const void* lock, const elision_policy& policy, failure why) noexcept {
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

void attempt_committed(experience& mine, const elision_policy& policy, unsigned sections) noexcept {
  if (mine.badness != 0) mine.badness = 0;
  if (policy.adapts == adaptation::retry_limit && mine.missing != 0) --mine.missing;
  if (policy.max_sections <= 1) return;
  if (mine.commits < policy.coarsens_after) {
    ++mine.commits;
  } else if (sections >= mine.grain) {
    mine.grain = static_cast<std::uint8_t>(std::min<unsigned>(policy.max_sections, mine.grain * 2u));
  }
}

void coarse_attempt_aborted(experience& mine, bool too_large) noexcept {
  mine.grain = too_large ? std::max<std::uint8_t>(1, mine.grain / 2) : 1;
  if (!too_large) mine.commits = 0;
}

}  // namespace txsync::inline TXSYNC_BACKEND::detail
