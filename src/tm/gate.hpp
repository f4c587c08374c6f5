// SPDX-License-Identifier: Apache-2.0
// Who runs: transactions beside each other, or one alone. And the gate's bias: while one thread is the only one that
// runs blocks, the gate is open for it and for nobody else, so that dctl's transactions need neither ownership records
// nor a log of reads (biased locking; Kawachiya, Koseki and Onodera, "Lock reservation", OOPSLA 2002). Whoever comes
// ends that.
#pragma once

#include <txsync/machine/asymmetric.hpp>

#include "tm/runner.hpp"
#include "tm/shared.hpp"

namespace txsync::inline TXSYNC_BACKEND::tm::detail {

inline void become_running(runner& me) noexcept {
  // relaxed: only this thread writes it. release, though it is a beginning: who waits for the end of the transaction
  // before it may see this in place of what leave() has stored
  me.activity.store(me.activity.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

inline void leave(runner& me) noexcept {
  // release pairs with the acquire of whoever waits for the transaction's end
  me.activity.store(me.activity.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

[[noreturn]] void refuse_torn() noexcept;

inline bool is_open_for(std::uintptr_t gate, const runner& me) noexcept {
  return gate == gate_open || gate == reinterpret_cast<std::uintptr_t>(&me);
}

/// False: somebody runs alone, or may, and leave() is to be called.
inline bool try_to_enter(runner& me) noexcept {
  become_running(me);
  machine::light_fence();  // beside the heavy one of who shuts the gate, and then looks at activity
  // acquire pairs with the release in leave_alone() and end_bias()
  return is_open_for(shared.gate.load(std::memory_order_acquire), me);
}
/// Requires: try_to_enter() has answered false. Enters when its turn has come, as if it were to run alone.
void wait_for_gate(runner& me) noexcept;

/// From here on the thread counts as running a transaction, and nobody runs alone.
inline void enter(runner& me) noexcept {
  if (!try_to_enter(me)) [[unlikely]]
    wait_for_gate(me);
}

/// Requires: the thread runs a transaction. True: nobody else does, until it ends.
inline bool has_bias(const runner& me) noexcept {
  // relaxed: only the thread itself brings about what would make this true
  return shared.gate.load(std::memory_order_relaxed) == reinterpret_cast<std::uintptr_t>(&me);
}
/// Once in a while, at the beginning of a transaction: the gate is biased towards the thread if nobody else has run any
/// since it last looked. Cost: a fraction of a nanosecond a transaction; it looks the more seldom the more often others
/// have run some, but each few milliseconds.
void look_for_others(runner& me) noexcept;
/// A thread's first transaction: what the thread that had the runner before it has seen says nothing.
void begin_to_look(runner& me) noexcept;
/// For explorations, before their threads start: they look from their first transactions on, and who ends the bias
/// waits for nothing before it asks for the end of the transaction.
void look_early() noexcept;
/// And the end of that.
void look_as_usual() noexcept;

/// The same, and from here on nobody else runs one; waits for those who do.
void enter_alone(runner& me) noexcept;
void leave_alone(runner& me) noexcept;

/// Before waiting for something that only a thread of this process can give up.
inline void refuse_if_torn() noexcept {
  // relaxed: written before the process had a second thread
  if (shared.torn_by_fork.load(std::memory_order_relaxed)) refuse_torn();
}
/// Ends the program where that thread was left behind by a fork.
void refuse_if_left_behind(const runner& who) noexcept;
/// In the child of a fork. Null: its thread has never run a block.
void forget_turns(const runner* me) noexcept;

/// All transactions that run now, but the thread's own. Throws std::bad_alloc.
void note_running(const runner& me, growing_log<seen_running>& into);
/// What it runs at the moment.
seen_running as_running(const runner& who) noexcept;
/// True where that one still does.
bool still_runs(const seen_running& one) noexcept;
/// Waits until all have ended that run now.
void wait_for_running(const runner& me) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::tm::detail
