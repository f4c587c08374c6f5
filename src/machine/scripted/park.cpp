// SPDX-License-Identifier: Apache-2.0
// Sleeping on the scripted machine: a list of sleepers under one mutex. So the oldest is woken first, and the clock is
// the script's.
#include <chrono>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>

#include "state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

using script::count;
using script::the_state;

namespace {

constexpr std::uint64_t ns_per_look = 1'000'000;

void move_clock_to(std::uint64_t time) noexcept {
  std::atomic<std::uint64_t>& now = the_state().now;
  std::uint64_t seen = now.load(std::memory_order_relaxed);
  while (seen < time && !now.compare_exchange_weak(seen, time, std::memory_order_relaxed)) {
  }
}

bool has_passed(std::uint64_t deadline) noexcept {
  return deadline != no_deadline && the_state().now.load(std::memory_order_relaxed) >= deadline;
}

/// Sleeps until woken or until the deadline. If the clock steps, it also advances during sleep, by steps of a
/// millisecond.
park_result sleep_until_told(std::unique_lock<script::unseen_mutex>& hold, script::sleeper& me,
                             std::uint64_t deadline) {
  script::state& all = the_state();
  while (!me.woken && !has_passed(deadline)) {
    const bool by_hand = all.step_per_look.load(std::memory_order_relaxed) == 0;
    if (deadline == no_deadline || by_hand) {
      me.told.wait(hold);
    } else if (me.told.wait_for(hold, std::chrono::nanoseconds(ns_per_look)) == std::cv_status::timeout) {
      all.now.fetch_add(ns_per_look, std::memory_order_relaxed);
    }
  }
  return me.woken ? park_result::woken : park_result::timed_out;
}

/// `holds`: whether the word still has the expected value.
template <class Holds>
park_result park_at(const void* address, Holds holds, std::uint64_t deadline) noexcept {
  detail::scripted_system_call();
  script::state& all = the_state();
  count(all.tally.parks);
  std::unique_lock hold(all.guard);
  if (!all.park.park_answers.empty()) {
    const park_result answer = all.park.park_answers.front();
    all.park.park_answers.pop_front();
    if (answer == park_result::timed_out && deadline != no_deadline) move_clock_to(deadline);
    return answer;
  }
  if (!holds()) return park_result::changed;
  script::sleeper me{.address = address, .woken = false, .told = {}};
  const auto place = all.park.asleep.insert(all.park.asleep.end(), &me);
  const park_result answer = sleep_until_told(hold, me, deadline);
  if (!me.woken) all.park.asleep.erase(place);  // the thread that wakes a sleeper removes it from the list
  return answer;
}

unsigned unpark_at(const void* address, unsigned at_most) noexcept {
  detail::scripted_system_call();
  script::state& all = the_state();
  count(all.tally.unparks);
  const std::lock_guard hold(all.guard);
  if (!all.park.unpark_answers.empty()) {
    const unsigned answer = all.park.unpark_answers.front();
    all.park.unpark_answers.pop_front();
    return answer;
  }
  unsigned woken = 0;
  for (auto at = all.park.asleep.begin(); at != all.park.asleep.end() && woken < at_most;) {
    script::sleeper& one = **at;
    if (one.address != address) {
      ++at;
      continue;
    }
    at = all.park.asleep.erase(at);
    one.woken = true;
    one.told.notify_one();
    ++woken;
  }
  return woken;
}

/// Not the low half's address, so that the two halves of a word have separate sleepers.
const void* high_half(const std::atomic<std::uint64_t>& word) noexcept {
  return reinterpret_cast<const char*>(&word) + 4;
}

}  // namespace

park_result park(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t deadline_ns) noexcept {
  // Relaxed here and below: all.guard orders this check against unpark()
  return park_at(&word, [&] { return word.load(std::memory_order_relaxed) == expected; }, deadline_ns);
}

park_result park_high(const std::atomic<std::uint64_t>& word, std::uint32_t expected_high,
                      std::uint64_t deadline_ns) noexcept {
  return park_at(
      high_half(word), [&] { return word.load(std::memory_order_relaxed) >> 32 == expected_high; }, deadline_ns);
}

park_result park_low(const std::atomic<std::uint64_t>& word, std::uint32_t expected_low,
                     std::uint64_t deadline_ns) noexcept {
  return park_at(
      &word, [&] { return static_cast<std::uint32_t>(word.load(std::memory_order_relaxed)) == expected_low; },
      deadline_ns);
}

unsigned unpark(const std::atomic<std::uint32_t>& word, unsigned count) noexcept { return unpark_at(&word, count); }

unsigned unpark_high(const std::atomic<std::uint64_t>& word, unsigned count) noexcept {
  return unpark_at(high_half(word), count);
}

unsigned unpark_low(const std::atomic<std::uint64_t>& word, unsigned count) noexcept { return unpark_at(&word, count); }

// One process, one clock, and no cancellation.
park_result park_shared(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                        std::uint64_t deadline_ns) noexcept {
  return park(word, expected, deadline_ns);
}

unsigned unpark_shared(const std::atomic<std::uint32_t>& word, unsigned count) noexcept { return unpark(word, count); }

park_result park_cancelably(const std::atomic<std::uint32_t>& word, std::uint32_t expected, wait_clock,
                            std::uint64_t deadline_ns, void (*)(void*), void*) {
  return park(word, expected, deadline_ns);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
