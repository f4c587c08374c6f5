// SPDX-License-Identifier: Apache-2.0
#include "speculate/experience.hpp"

#include <algorithm>

#include "speculate/thread_memory.hpp"

namespace txsync::inline TXSYNC_BACKEND::detail {

namespace {

/// Failures in a row that mean nothing yet. Where trials tell whether elision pays, sections that fit now and then are
/// no reason for others to be aborted by those that take the lock.
unsigned forgiven(const elision_policy& policy) noexcept { return policy.adapts == adaptation::trial ? 4 : 0; }

unsigned place_of(const void* lock) noexcept {
  // Multiplicative hashing (Knuth, vol. 3, 6.4).
  const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(lock) * 0x9E3779B97F4A7C15u;
  return static_cast<unsigned>(mixed >> (64 - thread_memory::table_bits));
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
}

bool wants_attempt(experience& mine, const elision_policy& policy) noexcept {
  if (uses_badness(policy)) return mine.badness == 0 || (++mine.turns & mine.badness >> forgiven(policy)) == 0;
  if (policy.adapts != adaptation::skip_after_failure || mine.skips == 0) return true;
  --mine.skips;
  return false;
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

void attempts_failed(experience& mine, const elision_policy& policy, failure why) noexcept {
  // Who takes the lock aborts all others. Where trials tell whether elision pays, conflicts are no reason to go on so.
  if (policy.adapts == adaptation::trial && why != failure::hopeless) return;
  if (uses_badness(policy)) {
    const unsigned most = (policy.most_badness + 1u) << forgiven(policy);
    mine.badness = static_cast<std::uint16_t>(std::min(most, mine.badness * 2u + 2) - 1);
  } else if (policy.adapts == adaptation::skip_after_failure) {
    mine.skips = why == failure::busy ? policy.skip_after_busy : policy.skip_after_abort;
  }
}

void attempt_committed(experience& mine, const elision_policy& policy, unsigned sections) noexcept {
  if (mine.badness != 0) mine.badness = 0;
  if (policy.adapts == adaptation::retry_limit && mine.missing != 0) --mine.missing;
  if (policy.most_sections <= 1) return;
  if (mine.commits < policy.coarsens_after) {
    ++mine.commits;
  } else if (sections >= mine.grain) {
    mine.grain = static_cast<std::uint8_t>(std::min<unsigned>(policy.most_sections, mine.grain * 2u));
  }
}

void coarse_attempt_aborted(experience& mine, bool too_large) noexcept {
  mine.grain = too_large ? std::max<std::uint8_t>(1, mine.grain / 2) : 1;
  if (!too_large) mine.commits = 0;
}

}  // namespace txsync::inline TXSYNC_BACKEND::detail
