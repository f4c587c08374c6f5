// SPDX-License-Identifier: Apache-2.0
// Which transactions run: many beside each other, or one serial one. Each thread says in a word of its own that it runs
// one, which costs a store. A thread that has to know reads all these words after a heavy fence.
#include "tm/quiescence_gate.hpp"

#include <memory>

#include <txsync/machine/assert.hpp>

#include "locks/backoff.hpp"
#include "tm/shared.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

constexpr std::uint64_t min_wait_cycles = 64;

// Between two looks whether others run transactions. So many cycles are enough to pay for the end of a bias.
constexpr std::uint64_t max_look_interval_cycles = 4'000'000;
constexpr std::uint32_t max_look_interval_transactions = 1U << 16;

// Except in explorations.
constexpr std::uint32_t usual_between_looks = 64;  // transactions
constexpr std::uint64_t usual_patience = 10'000;   // cycles
constinit std::uint32_t min_look_interval_transactions = usual_between_looks;
constinit std::uint64_t patience_with_biased = usual_patience;

bool is_running(std::uint64_t activity) noexcept { return (activity & 1) != 0; }

std::uint64_t activity_of(const runner& who) noexcept {
  // acquire pairs with the release in leave(): what the transaction did comes before what follows here
  return who.activity.load(std::memory_order_acquire);
}

void wait_for(const seen_running& one) noexcept {
  txsync::detail::patient_spin waiting;
  while (still_runs(one)) {
    refuse_if_left_behind(*one.who);
    waiting.wait(min_wait_cycles);
  }
}

template <class Visit>
void for_each_running(const runner& me, const Visit& visit) {
  machine::heavy_fence();
  for (runner* one = runner::first(); one != nullptr; one = one->next()) {
    const std::uint64_t seen = activity_of(*one);
    if (one != &me && is_running(seen)) visit(seen_running{one, seen});
  }
}

/// The runner that the gate is biased to, or null.
runner* runner_in(std::uintptr_t state) noexcept {
  return is_biased(state) ? reinterpret_cast<runner*>(state) : nullptr;
}

void open_gate() noexcept {
  shared.quiescence_gate.store(gate_open, std::memory_order_release);  // pairs with the acquire in try_to_enter()
}

/// Waits for that transaction's end. A long one that runs under the gate's bias is made to restart at its next read.
void wait_for_biased(const seen_running& one, runner& biased) noexcept {
  txsync::detail::patient_spin waiting;
  const std::uint64_t start = machine::cycles();
  while (still_runs(one)) {
    refuse_if_left_behind(biased);
    // This may reach a later transaction of that thread, which it does not harm.
    if (machine::cycles() - start > patience_with_biased) biased.set_bound(0);
    waiting.wait(min_wait_cycles);
  }
}

/// Requires: the thread has the turn.
void close_gate(const runner& me) noexcept TXSYNC_REQUIRES(shared.turn) {
  TXSYNC_ASSERT(shared.turn.is_held(), "the thread that closes the gate has the turn");
  runner* const biased =
      runner_in(shared.quiescence_gate.load(std::memory_order_relaxed));  // relaxed: changes only with the turn
  // relaxed: before the heavy fence; pairs with the light one in try_to_enter()
  shared.quiescence_gate.store(gate_closed, std::memory_order_relaxed);
  for_each_running(me, [&](const seen_running& one) {
    if (one.who == biased) {
      wait_for_biased(one, *biased);
    } else {
      wait_for(one);
    }
  });
}

/// Requires: the thread has the turn.
void end_bias(const runner& me) noexcept TXSYNC_REQUIRES(shared.turn) {
  TXSYNC_ASSERT(shared.turn.is_held(), "the thread that ends the bias has the turn");
  if (shared.quiescence_gate.load(std::memory_order_relaxed) == gate_open)
    return;  // relaxed: changes only with the turn
  close_gate(me);
  open_gate();
}

}  // namespace

std::uint64_t activity_of_others(const runner& me) noexcept {
  std::uint64_t sum = 0;
  for (const runner* one = runner::first(); one != nullptr; one = one->next()) {
    if (one != &me) sum += activity_of(*one);
  }
  return sum;
}

void begin_to_look(runner& me) noexcept { me.until_look = me.look_every = min_look_interval_transactions; }

void look_for_others(runner& me) noexcept {
  const std::uint64_t now = machine::cycles();
  const std::uint64_t since = now - me.looked;
  me.looked = now;
  const std::uint64_t activity = activity_of_others(me);
  const bool quiet = activity == me.others_activity;
  me.others_activity = activity;
  // The interval grows faster than it shrinks: a thread that comes once in a while must not find the gate biased each
  // time.
  if ((quiet || since > max_look_interval_cycles) && me.look_every > min_look_interval_transactions) {
    me.look_every /= 2;
  } else if (!quiet && since < max_look_interval_cycles / 4 && me.look_every < max_look_interval_transactions) {
    me.look_every *= 4;
  }
  me.until_look = me.look_every;
  if (!quiet || has_bias(me) || !shared.turn.try_lock()) return;
  if (shared.quiescence_gate.load(std::memory_order_relaxed) == gate_open) {  // relaxed: changes only with the turn
    // relaxed: before the heavy fence; pairs with the light one in try_to_enter()
    shared.quiescence_gate.store(reinterpret_cast<std::uintptr_t>(&me), std::memory_order_relaxed);
    bool others_run = false;
    for_each_running(me, [&](const seen_running&) { others_run = true; });
    if (others_run) open_gate();
  }
  shared.turn.unlock();
}

void look_early() noexcept {
  min_look_interval_transactions = 1;
  patience_with_biased = 0;
  for (runner* one = runner::first(); one != nullptr; one = one->next()) begin_to_look(*one);
}
void look_as_usual() noexcept {
  min_look_interval_transactions = usual_between_looks;
  patience_with_biased = usual_patience;
}

void refuse_torn() noexcept {
  refuse("this process was forked while another thread ran an atomic block, which can never end here");
}

void refuse_if_left_behind(const runner& who) noexcept {
  if (!lives(who)) refuse_torn();
}

void forget_turns(const runner* me) noexcept TXSYNC_UNCHECKED {
  const bool mine = me != nullptr && (me->mode == run_mode::serial || me->mode == run_mode::irrevocable);
  // relaxed, in all of these: there is one thread
  const std::uintptr_t state = shared.quiescence_gate.load(std::memory_order_relaxed);
  const runner* const biased_to = runner_in(state);
  if (biased_to == nullptr ? state == gate_closed && !mine : biased_to != me && is_running(activity_of(*biased_to))) {
    return shared.torn_by_fork.store(true, std::memory_order_relaxed);
  }
  if (biased_to != me) shared.quiescence_gate.store(mine ? gate_closed : gate_open, std::memory_order_relaxed);
  std::construct_at(&shared.turn);  // nobody else waits for it any more
  if (mine) shared.turn.lock();
}

void wait_for_gate(runner& me) noexcept {
  TXSYNC_ASSERT(is_running(me.activity.load(std::memory_order_relaxed)), "the thread has tried to enter");
  leave(me);
  refuse_if_torn();
  shared.turn.lock();  // behind the threads that run serial transactions, or want to
  end_bias(me);
  static_cast<void>(try_to_enter(me));  // while it has the turn, the gate stays open, and nobody overtakes it again
  shared.turn.unlock();
}

void enter_serial(runner& me) noexcept TXSYNC_UNCHECKED {  // it keeps the turn
  refuse_if_torn();
  shared.turn.lock();
  become_running(me);
  close_gate(me);
  exclude_attempts();
}

namespace {

/// Waits for something that may never come: in turns, since time may stand still (scripted machine).
class bounded_wait {
 public:
  /// False: it has lasted long enough.
  bool go_on() noexcept {
    if (++turns_ > spins + sleeps) return false;
    turns_ > spins ? machine::sleep_ns(sleep_ns) : machine::relax();
    return true;
  }

 private:
  static constexpr unsigned spins = 2'000;
  static constexpr unsigned sleeps = 100;
  static constexpr std::uint64_t sleep_ns = 1'000'000;
  unsigned turns_ = 0;
};

}  // namespace

bool try_to_enter_serial(runner& me) noexcept TXSYNC_UNCHECKED {  // it may keep the turn
  bounded_wait waiting;
  while (!shared.turn.try_lock()) {
    if (!waiting.go_on()) return false;
  }
  become_running(me);
  shared.quiescence_gate.store(gate_closed, std::memory_order_relaxed);  // relaxed: as in close_gate()
  bool have_ended = true;
  for_each_running(me, [&](const seen_running& one) {
    while (have_ended && still_runs(one)) have_ended = waiting.go_on();
  });
  if (have_ended) {
    exclude_attempts();
    return true;
  }
  leave(me);
  open_gate();
  shared.turn.unlock();
  return false;
}

void leave_serial(runner& me) noexcept TXSYNC_UNCHECKED {
  order_before_attempts();
  leave(me);
  open_gate();
  shared.turn.unlock();
}

void note_running(const runner& me, growing_log<seen_running>& into) {
  for_each_running(me, [&](const seen_running& one) { into.append(one); });
}

bool runs_now(const runner& who) noexcept { return is_running(activity_of(who)); }

seen_running as_running(const runner& who) noexcept { return {&who, activity_of(who)}; }

bool still_runs(const seen_running& one) noexcept { return activity_of(*one.who) == one.activity; }

void wait_for_running(const runner& me) noexcept {
  for_each_running(me, [](const seen_running& one) { wait_for(one); });
  order_behind_blocks();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
