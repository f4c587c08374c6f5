// SPDX-License-Identifier: Apache-2.0
// The quiescence gate: transactions run beside each other, or one serial transaction runs without any other.
//
// | The gate       | Who may run                      | Next state                                                  |
// |----------------|----------------------------------|-------------------------------------------------------------|
// | gate_open      | any number of transactions       | a runner: look_for_others() sees that only that one runs    |
// |                |                                  | blocks; gate_closed: enter_serial()                         |
// | a runner       | that runner's transactions       | gate_open: another thread comes, and waits for its          |
// |                |                                  | transaction; gate_closed: enter_serial()                    |
// | gate_closed    | one serial transaction           | gate_open: leave_serial()                                   |
//
// The second state is the gate's bias. Then dctl's transactions need neither ownership records nor a log of reads
// (biased locking; Kawachiya, Koseki and Onodera, "Lock reservation", OOPSLA 2002). The gate changes only while
// shared.turn is held, except in the child of a fork.
#pragma once

#include <txsync/machine/assert.hpp>
#include <txsync/machine/asymmetric.hpp>

#include "tm/runner.hpp"
#include "tm/shared.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

inline void become_running(runner& me) noexcept {
  // relaxed: only this thread writes it. release, although this is a beginning: a thread that waits for the previous
  // transaction's end may read this instead of leave()'s store
  me.activity.store(me.activity.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

inline void leave(runner& me) noexcept {
  // release pairs with the acquire of threads that wait for the transaction's end
  me.activity.store(me.activity.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

[[noreturn]] void refuse_torn() noexcept;

inline bool is_open_for(std::uintptr_t state, const runner& me) noexcept {
  return state == gate_open || state == reinterpret_cast<std::uintptr_t>(&me);
}

/// True: to some thread.
inline bool is_biased(std::uintptr_t state) noexcept { return state != gate_open && state != gate_closed; }

/// Returns the state of the gate. Unless that is open for the thread, a serial transaction runs, or may run, and leave()
/// is to be called.
inline std::uintptr_t begin_to_enter(runner& me) noexcept {
  become_running(me);
  machine::light_fence();  // pairs with the heavy fence of a thread that closes the gate and then reads activity
  // acquire pairs with the release in leave_serial() and end_bias()
  return shared.quiescence_gate.load(std::memory_order_acquire);
}
inline bool try_to_enter(runner& me) noexcept { return is_open_for(begin_to_enter(me), me); }
/// Requires: try_to_enter() has returned false. Enters when its turn has come, as a serial transaction would.
void wait_for_gate(runner& me) noexcept;

/// From here on the thread counts as running a transaction, and no serial one runs.
inline void enter(runner& me) noexcept {
  if (!try_to_enter(me)) [[unlikely]]
    wait_for_gate(me);
}

/// Requires: the thread runs a transaction. True: no other runs until it ends.
inline bool has_bias(const runner& me) noexcept {
  TXSYNC_ASSERT((me.activity.load(std::memory_order_relaxed) & 1) != 0, "the thread runs a transaction");
  // relaxed: only the thread itself does what would make this true
  return shared.quiescence_gate.load(std::memory_order_relaxed) == reinterpret_cast<std::uintptr_t>(&me);
}
/// Called once in a while, at the beginning of a transaction. It biases the gate to the thread if no other thread has
/// run transactions since its last look. The more often others have run some, the rarer are its looks, but it looks
/// each few milliseconds. Cost: a fraction of a nanosecond a transaction.
void look_for_others(runner& me) noexcept;
/// How many transactions and attempts the other runners have begun and ended, in all.
std::uint64_t activity_of_others(const runner& me) noexcept;
/// For a thread's first transaction: what the runner's former thread has seen means nothing.
void begin_to_look(runner& me) noexcept;
/// For explorations, before their threads start. Threads look from their first transactions on. A thread that ends the
/// bias asks at once for the end of the transaction.
void look_early() noexcept;
/// Ends that.
void look_as_usual() noexcept;

/// As enter(); and from here on no other thread runs a transaction. Waits for those that run.
void enter_serial(runner& me) noexcept;
/// The same, if it is possible within a tenth of a second. False: the thread has not entered.
bool try_to_enter_serial(runner& me) noexcept;
void leave_serial(runner& me) noexcept;

/// Before a wait for something that only a thread of this process can give up.
inline void refuse_if_torn() noexcept {
  // relaxed: written before the process had a second thread
  if (shared.torn_by_fork.load(std::memory_order_relaxed)) refuse_torn();
}
/// Ends the program if that thread was left behind by a fork.
void refuse_if_left_behind(const runner& who) noexcept;
/// In the child of a fork. Null: its thread has never run a block.
void forget_turns(const runner* me) noexcept;

/// All transactions that run now, except the thread's own. Throws std::bad_alloc.
void note_running(const runner& me, growing_log<seen_running>& into);
/// Whether it runs a transaction that is no hardware attempt.
bool runs_now(const runner& who) noexcept;
/// What it runs at the moment.
seen_running as_running(const runner& who) noexcept;
/// True if that transaction still runs.
bool still_runs(const seen_running& one) noexcept;
/// Waits until all transactions that run now have ended.
void wait_for_running(const runner& me) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
