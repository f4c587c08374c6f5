// SPDX-License-Identifier: Apache-2.0
#include "exploration.hpp"

#include "access.hpp"
#include "records.hpp"

namespace txsync::sim {

void trace(const thread_record& thread, std::uintptr_t site, const char* what, std::uintptr_t address) noexcept {
  write_step(thread.id, site, what, address);
}

namespace {

// Random order: the running thread goes on three times out of four, so that runs of one thread come about too.
constexpr std::uint64_t stay_of = 4;

// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): threads with random priorities, and a few random
// steps at which the running one becomes the least. Finds a bug of depth d with probability 1/(n k^(d-1)) or better.
constexpr unsigned change_points = 2;
constexpr std::uint64_t lowest_drawn = std::uint64_t{1} << 40;
constinit std::uint64_t changes[change_points] = {};
constinit std::uint64_t next_lowest = lowest_drawn;
constexpr std::uint64_t expected_steps = 100;  // what change points are drawn from: the same for each schedule
constinit std::uint64_t first_step = 0;
constinit unsigned last_turn = 0;

template <class Function>
void for_running(Function function) noexcept {
  for (unsigned i = 0; i < state.cpu_count; ++i) {
    if (state.cpus[i].running != nullptr) function(*state.cpus[i].running, i);
  }
}

thread_record* at_random() noexcept {
  thread_record* current = state.current;
  if (current->state == thread_state::running && state.random.below(stay_of) != 0) return current;
  unsigned runnable = 0;
  thread_record* chosen = nullptr;
  // Reservoir sampling (Vitter 1985): each of n with probability 1/n, in one pass.
  for_running([&](thread_record& thread, unsigned) {
    if (state.random.below(++runnable) == 0) chosen = &thread;
  });
  return chosen;
}

thread_record* by_priority() noexcept {
  const std::uint64_t step = state.steps - first_step;
  for (const std::uint64_t change : changes) {
    if (change == step) state.current->priority = --next_lowest;
  }
  thread_record* chosen = nullptr;
  for_running([&](thread_record& thread, unsigned) {
    if (chosen == nullptr || thread.priority > chosen->priority) chosen = &thread;
  });
  return chosen;
}

thread_record* in_turn() noexcept {
  thread_record* chosen = nullptr;
  unsigned best = ~0u;
  for_running([&](thread_record& thread, unsigned cpu) {
    const unsigned distance = (cpu + state.cpu_count - last_turn - 1) % state.cpu_count;
    if (distance < best) {
      best = distance;
      chosen = &thread;
    }
  });
  if (chosen != nullptr) last_turn = chosen->cpu;
  return chosen;
}

}  // namespace

void begin_schedule(std::uint64_t seed) noexcept {
  first_step = state.steps;
  state.schedule_seed = seed;
  state.traces = state.wants_trace;
  state.schedule_start = state.steps;
  state.random.seed(seed);
  next_lowest = lowest_drawn;
  for (std::uint64_t& change : changes) change = 1 + state.random.below(expected_steps);
  state.current->priority = draw_priority();
  last_turn = 0;
  // A schedule is the same whatever ran before it: time begins anew.
  state.current->time = 0;
  for (unsigned i = 0; i < state.cpu_count; ++i) state.cpus[i].free_since = 0;
}

thread_record* choose_explored() noexcept {
  switch (state.scheduling) {
    case order::priorities:
      return by_priority();
    case order::round_robin:
      return in_turn();
    default:
      return at_random();
  }
}

void spun(thread_record& thread) noexcept {
  if (state.scheduling == order::priorities) thread.priority = --next_lowest;
}

std::uint64_t draw_priority() noexcept { return 2 * lowest_drawn + state.random.below(lowest_drawn); }

}  // namespace txsync::sim
