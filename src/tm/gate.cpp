// SPDX-License-Identifier: Apache-2.0
// Who runs: transactions beside each other, or one alone. Each says so in a word of its own, which costs it a store;
// whoever has to know looks at all of them behind a heavy fence.
#include "tm/gate.hpp"

#include <memory>

#include "locks/backoff.hpp"
#include "tm/shared.hpp"

namespace txsync::inline TXSYNC_BACKEND::tm::detail {

namespace {

constexpr std::uint64_t shortest_wait = 64;  // cycles

bool is_running(std::uint64_t activity) noexcept { return (activity & 1) != 0; }

std::uint64_t activity_of(const runner& who) noexcept {
  // acquire pairs with the release in leave(): what the transaction did is before what follows here
  return who.activity.load(std::memory_order_acquire);
}

void wait_for(const seen_running& one) noexcept {
  txsync::detail::patient_spin waiting;
  while (still_runs(one)) {
    refuse_if_left_behind(*one.who);
    waiting.wait(shortest_wait);
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

}  // namespace

void refuse_torn() noexcept {
  refuse("this process was forked while another thread ran an atomic block, which can never end here");
}

void refuse_if_left_behind(const runner& who) noexcept {
  if (!lives(who)) refuse_torn();
}

void forget_turns(const runner* me) noexcept {
  const bool mine = me != nullptr && (me->mode == run_mode::alone || me->mode == run_mode::irrevocable);
  // relaxed: there is one thread
  if (shared.gate.load(std::memory_order_relaxed) != 0 && !mine) {
    return shared.torn_by_fork.store(true, std::memory_order_relaxed);
  }
  std::construct_at(&shared.turn);  // nobody else waits for it any more
  if (mine) shared.turn.lock();
}

void wait_for_gate(runner& me) noexcept {
  do {
    leave(me);
    refuse_if_torn();
    shared.turn.lock();  // behind those who run alone, and who want to
    shared.turn.unlock();
  } while (!try_to_enter(me));
}

void enter_alone(runner& me) noexcept {
  refuse_if_torn();
  shared.turn.lock();
  become_running(me);
  shared.gate.store(1, std::memory_order_relaxed);  // before the heavy fence, beside the light one in try_to_enter()
  for_each_running(me, [](const seen_running& one) { wait_for(one); });
}

void leave_alone(runner& me) noexcept {
  leave(me);
  shared.gate.store(0, std::memory_order_release);  // pairs with the acquire in try_to_enter()
  shared.turn.unlock();
}

void note_running(const runner& me, growing_log<seen_running>& into) {
  for_each_running(me, [&](const seen_running& one) { into.append(one); });
}

seen_running as_running(const runner& who) noexcept { return {&who, activity_of(who)}; }

bool still_runs(const seen_running& one) noexcept { return activity_of(*one.who) == one.activity; }

void wait_for_running(const runner& me) noexcept {
  for_each_running(me, [](const seen_running& one) { wait_for(one); });
}

}  // namespace txsync::inline TXSYNC_BACKEND::tm::detail
