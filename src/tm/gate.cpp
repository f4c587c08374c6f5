// SPDX-License-Identifier: Apache-2.0
// Who runs: transactions beside each other, or one alone. Each says so in a word of its own, which costs it a store;
// whoever has to know looks at all of them behind a heavy fence.
#include "tm/gate.hpp"

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
    if (one.who->born_in.load(std::memory_order_relaxed) != machine::fork_count()) {
      refuse("this process was forked while another thread ran an atomic block, which can never end here");
    }
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

void wait_for_gate(runner& me) noexcept {
  do {
    leave(me);
    shared.turn.lock();  // behind those who run alone, and who want to
    shared.turn.unlock();
  } while (!try_to_enter(me));
}

void enter_alone(runner& me) noexcept {
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

bool still_runs(const seen_running& one) noexcept { return activity_of(*one.who) == one.activity; }

void wait_for_running(const runner& me) noexcept {
  for_each_running(me, [](const seen_running& one) { wait_for(one); });
}

}  // namespace txsync::inline TXSYNC_BACKEND::tm::detail
