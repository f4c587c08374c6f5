// SPDX-License-Identifier: Apache-2.0
#include "tm/hybrid/announcements.hpp"

#include <txsync/machine/asymmetric.hpp>
#include <txsync/machine/cpu.hpp>

#include "tm/quiescence_gate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

// Except in explorations.
constinit std::uint32_t blocks_until_withdrawal = 16;
constinit std::uint32_t blocks_between_looks = 256;
constexpr unsigned max_looks_at_commits = 256;

/// Whether it has run no block since this was last asked. A hint.
bool seems_idle(runner& other) noexcept {
  // relaxed, all: a hint
  const std::uint64_t now = other.activity.load(std::memory_order_relaxed);
  const std::uint64_t before = other.activity_seen.exchange(now, std::memory_order_relaxed);
  return now == before;
}

/// The thread's announcement is taken away first. The count is lowered when it is sure that the thread has begun no
/// transaction without another one. Either the thread sees that it is not announced, or this sees that it runs.
void withdraw_if_idle(runner& other) noexcept {
  if (runs_now(other) || !other.is_announced.exchange(false)) return;
  machine::heavy_fence();
  if (!runs_now(other) || other.is_announced.exchange(true)) shared.announced.fetch_sub(1);
}

}  // namespace

void withdraw_early() noexcept {
  blocks_until_withdrawal = 1;
  blocks_between_looks = 1;
}

void announce_now(runner& me) noexcept {
  // The count first: it is never lower than the number of threads that are announced.
  shared.announced.fetch_add(1);
  if (me.is_announced.exchange(true)) shared.announced.fetch_sub(1);  // withdraw_if_idle() has put it back
}

void withdraw(runner& me) noexcept {
  TXSYNC_ASSERT((me.activity.load(std::memory_order_relaxed) & 1) == 0, "the thread runs no transaction");
  if (me.is_announced.exchange(false)) shared.announced.fetch_sub(1);
}

void withdraw_soon(runner& me) noexcept { me.since_software = blocks_until_withdrawal - 1; }

void withdraw_in_time(runner& me) noexcept {
  // relaxed: a hint
  if (shared.announced.load(std::memory_order_relaxed) == 0) return;
  const std::uint32_t since = ++me.since_software;
  if (since == blocks_until_withdrawal) withdraw(me);
  if (since % blocks_between_looks != 0) return;
  for (runner* one = runner::first(); one != nullptr; one = one->next()) {
    if (one != &me && one->is_announced.load(std::memory_order_relaxed) && seems_idle(*one)) withdraw_if_idle(*one);
  }
}

void forget_announcements(runner* me) noexcept {
  // relaxed: there is one thread
  const bool mine = me != nullptr && me->is_announced.load(std::memory_order_relaxed);
  shared.announced.store(mine ? 1 : 0, std::memory_order_relaxed);
  shared.committing.store(me != nullptr && me->is_committing ? 1 : 0, std::memory_order_relaxed);
}

void wait_for_commits() noexcept {
  // relaxed: only decides how long to wait
  for (unsigned i = 0; i < max_looks_at_commits && shared.committing.load(std::memory_order_relaxed) != 0; ++i) {
    machine::relax();
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
