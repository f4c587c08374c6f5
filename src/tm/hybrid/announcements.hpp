// SPDX-License-Identifier: Apache-2.0
// What software transactions tell hardware attempts: that they run (hynorec, hydctl), and that they commit (hynorec,
// hytl2). An attempt reads these counts, so a change aborts it. Nothing is announced where attempts do not work.
//
// A thread announces itself by a read-modify-write before the first read of its transaction. A store would not do: the
// attempt that has to see it cannot execute the heavy fence. The announcement then stays until blocks of the thread
// have committed in hardware for a while. So a thread that runs only software transactions pays for it once. If the
// thread runs none at all for a while, others take its announcement away (withdraw_in_time()).
#pragma once

#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>

#include "tm/runner.hpp"
#include "tm/shared.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

void announce_now(runner& me) noexcept;
/// From here until the transaction has ended, attempts know that it runs. Requires: the thread has entered
/// (quiescence_gate.hpp), and the transaction has read nothing.
inline void announce(runner& me) noexcept {
  TXSYNC_ASSERT((me.activity.load(std::memory_order_relaxed) & 1) != 0, "the thread runs a transaction");
  me.since_software = 0;
  // relaxed: the light fence of begin_to_enter() comes before it, which pairs with the heavy one in withdraw_if_idle()
  if (!me.is_announced.load(std::memory_order_relaxed) && machine::attempts_work()) [[unlikely]]
    announce_now(me);
}

/// In an attempt, or to look: whether a thread other than this one may run software transactions.
inline bool others_are_announced(const runner& me) noexcept {
  // acquire pairs with the release of withdraw(): what that thread's transactions have written comes before
  const std::uint64_t all = shared.announced.load(std::memory_order_acquire);
  return all != (me.is_announced.load(std::memory_order_relaxed) ? 1 : 0);
}

/// Outside of transactions: the thread runs no software transaction without a further announcement.
void withdraw(runner& me) noexcept;
/// Called before an attempt. Withdraws the thread's announcement when some of its blocks in a row were tried in hardware.
/// Once in a while withdraws those of threads that run no blocks.
void withdraw_in_time(runner& me) noexcept;
/// The thread has run a block in software only because its attempts failed: its next attempt withdraws the announcement.
void withdraw_soon(runner& me) noexcept;
/// For explorations, before their threads start: at every attempt.
void withdraw_early() noexcept;
/// In the child of a fork: one thread is left. Null: it has never run a block, or none does (runner::begin_anew()).
void forget_announcements(runner* me) noexcept;

/// Before a commit changes anything that others see: attempts that run abort, and none begins until lower_commits().
inline void raise_commits(runner& me) noexcept {
  if (!machine::attempts_work()) return;
  me.is_committing = true;
  shared.committing.fetch_add(1);
}
/// After it has released all, or undone it. No effect without raise_commits().
inline void lower_commits(runner& me) noexcept {
  if (!me.is_committing) return;
  me.is_committing = false;
  shared.committing.fetch_sub(1);
}
/// In an attempt: it aborts now if a software transaction commits, or later if one begins to.
inline void subscribe_to_commits() noexcept {
  // acquire pairs with lower_commits(): what was committed comes before
  if (shared.committing.load(std::memory_order_acquire) != 0) {
    machine::abort<machine::attempt_status::code_owned>();
  }
}
/// Before an attempt: for a while, until no software transaction commits.
void wait_for_commits() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
