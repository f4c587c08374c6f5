// SPDX-License-Identifier: Apache-2.0
#include "exploration.hpp"

#include "access.hpp"
#include "held_locks.hpp"
#include "notes.hpp"
#include "program_steps.hpp"
#include "records.hpp"
#include "schedule.hpp"
#include "systematic.hpp"
#include "uniform_walk.hpp"

// Of the program library; null in a program that starts no threads. Never called here.
extern "C" [[gnu::weak]] void txsync_sim_pthread_create();

namespace txsync::sim {

namespace {

constinit std::uint64_t clock_priority = 0;
// True in schedules of a test. A program that is explored as a whole may rely on long times being long.
constinit bool deadlines_come_early = false;

// The threads that are on a hardware thread, in the order of the hardware threads.
constinit thread_record* running[max_threads] = {};
constinit unsigned running_count = 0;

/// False if none is there.
bool running_are_past(ticks time) noexcept {
  for (unsigned i = 0; i < running_count; ++i) {
    if (running[i]->time < time) return false;
  }
  return running_count != 0;
}

// Of a program: steps since a thread last wrote. Threads that only read may wait, in loops, for one that sleeps.
constexpr unsigned max_steps_without_write = 2'000;
constinit unsigned steps_without_write = 0;

/// Whether the next deadline may come although threads can run.
bool deadline_may_come() noexcept { return has_deadline() && (deadlines_come_early || next_deadline_is_short()); }

/// Of a program: a deadline comes that the running threads have waited for, or that lies behind them.
void let_due_deadline_come() noexcept {
  if (++steps_without_write < max_steps_without_write && !running_are_past(next_deadline())) return;
  steps_without_write = 0;
  fire_deadline();
}

/// What may take the next step. A thread may, if it can run. A thread's store buffer lets its oldest store out. The
/// clock moves to the next deadline of a waiting thread. Every order treats all of them as threads.
struct actor {
  enum class kind : std::uint8_t { nobody, thread, buffer, clock };
  kind what = kind::nobody;
  thread_record* thread = nullptr;  ///< for a buffer, its thread

  bool can_act() const noexcept {
    if (what == kind::clock) return deadline_may_come();
    return what != kind::nobody && thread->state == thread_state::running &&
           (what == kind::thread || has_waiting_stores(*thread));
  }
  std::uint64_t& priority() const noexcept {
    if (what == kind::clock) return clock_priority;
    return what == kind::buffer ? thread->drain_priority : thread->priority;
  }
  /// Its position in the turn. Buffers come after the threads, so that stores wait as long as they can.
  unsigned place() const noexcept {
    if (what == kind::clock) return 2 * state.cpu_count;
    return thread->cpu + (what == kind::buffer ? state.cpu_count : 0);
  }
};

constinit actor last{};
/// A thread of a program that takes more steps than these in a row may wait for another in a loop without a pause.
constexpr unsigned max_steps_in_a_row = 1000;
constinit unsigned steps_in_a_row = 0;

template <class Function>
void for_actors(Function function) noexcept {
  for (unsigned i = 0; i < running_count; ++i) {
    thread_record* thread = running[i];
    function(actor{actor::kind::thread, thread});
    if (state.store_buffers && has_waiting_stores(*thread)) function(actor{actor::kind::buffer, thread});
  }
  if (deadline_may_come()) function(actor{actor::kind::clock});
}

// ---- where orders change their choice: at a few of the choices that a schedule has

constexpr unsigned max_points = 3;
constinit std::uint64_t expected_choices = 100;
constinit std::uint64_t choices = 0;  // so far
constinit std::uint64_t points[max_points] = {};

void draw_points() noexcept {
  choices = 0;
  for (std::uint64_t& point : points) point = 1 + state.random.below(expected_choices);
}

/// While only one can act, as during the set-up of a test, there is no choice.
bool is_point(unsigned count) noexcept {
  if (running_count < 2 && !deadline_may_come()) return false;
  ++choices;
  for (unsigned i = 0; i < count; ++i) {
    if (points[i] == choices) return true;
  }
  return false;
}

// ---- random

/// For the case that only threads can act. It has no branches, because they would be unpredictable.
actor any_thread() noexcept {
  seeded_random random = state.random;
  unsigned chosen = 0;
  for (unsigned i = 0; i < running_count; ++i) chosen = random.below(i + 1) == 0 ? i : chosen;
  state.random = random;
  return running_count != 0 ? actor{actor::kind::thread, running[chosen]} : actor{};
}

/// Reservoir sampling (Vitter 1985): takes each of n with probability 1/n, in one pass.
actor anyone() noexcept {
  if (state.follows_program && running_count >= 2) ++choices;
  if (!state.store_buffers && !deadline_may_come()) return any_thread();
  unsigned able = 0;
  actor chosen;
  for_actors([&](const actor& one) {
    if (state.random.below(++able) == 0) chosen = one;
  });
  return chosen;
}

actor at_random() noexcept {
  thread_record* current = state.current;
  if (!state.follows_program && current->state == thread_state::running && goes_on_at_random())
    return {actor::kind::thread, current};
  return anyone();
}

// ---- probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): random priorities. At a few random choices,
// the running thread gets the lowest one. Finds a bug of depth d with probability 1/(n k^(d-1)) or better, if n threads
// have k choices.

constexpr unsigned change_points = 2;
constexpr std::uint64_t lowest_drawn = std::uint64_t{1} << 40;
constinit std::uint64_t next_lowest = lowest_drawn;

template <class May>
actor with_highest_priority(May may) noexcept {
  actor chosen;
  for_actors([&](const actor& one) {
    if (!may(one)) return;
    if (chosen.what == actor::kind::nobody || one.priority() > chosen.priority()) chosen = one;
  });
  return chosen;
}
actor with_highest_priority() noexcept {
  return with_highest_priority([](const actor&) noexcept { return true; });
}

actor by_priority() noexcept {
  if (last.what != actor::kind::nobody && is_point(change_points)) last.priority() = --next_lowest;
  return with_highest_priority();
}

// ---- partial-order sampling (Yuan, Yang and Gu, CAV 2018): each event that may come next has a random priority, and
// the highest comes. After it, its thread's next event draws one, and all that race with it draw anew. So orders of
// events that do not race are not tried again and again.

std::uint64_t drawn_priority() noexcept { return 2 * lowest_drawn + state.random.below(lowest_drawn); }

bool races(const thread_record& a, const thread_record& b) noexcept {
  return (a.next_writes || b.next_writes) && a.next_access.bytes != 0 && b.next_access.bytes != 0 &&
         a.next_access.from < b.next_access.from + b.next_access.bytes &&
         b.next_access.from < a.next_access.from + a.next_access.bytes;
}

actor by_partial_order() noexcept {
  if (last.what != actor::kind::nobody) last.priority() = drawn_priority();
  const actor chosen = with_highest_priority();
  if (chosen.what != actor::kind::thread) return chosen;
  for (unsigned i = 0; i < running_count; ++i) {
    if (running[i] != chosen.thread && races(*running[i], *chosen.thread)) running[i]->priority = drawn_priority();
  }
  return chosen;
}

// ---- the selectively uniform random walk (uniform_walk.hpp)

bool waits_in_walk(const actor& one) noexcept {
  return one.what == actor::kind::thread && sim::waits_in_walk(*one.thread);
}

/// Of those that wait, one in proportion to what they have left. It may be none: the one that was drawn may wait for
/// something else.
actor anyone_waiting() noexcept {
  actor chosen;
  std::uint64_t sum = 0;
  for_actors([&](const actor& one) {
    if (!waits_in_walk(one)) return;
    const std::uint64_t weight = std::uint64_t{interesting_left(*one.thread)} + 1;
    sum += weight;
    if (state.random.below(sum) < weight) chosen = one;
  });
  return chosen;
}

/// The thread that was drawn may wait for one of the others, in a loop.
constexpr unsigned max_steps_of_drawn = 1000;
constinit unsigned steps_of_drawn = 0;

actor by_uniform_walk() noexcept {
  if (last.what != actor::kind::nobody) last.priority() = drawn_priority();
  actor chosen = with_highest_priority([](const actor& one) noexcept { return !waits_in_walk(one); });
  if (++steps_of_drawn > max_steps_of_drawn || chosen.what == actor::kind::nobody) {
    steps_of_drawn = 0;
    if (const actor waiting = anyone_waiting(); waiting.what != actor::kind::nobody) {
      chosen = waiting;
      draw_in_walk(*chosen.thread);
    }
  }
  if (chosen.what == actor::kind::thread && goes_on_in_walk(*chosen.thread)) steps_of_drawn = 0;
  return chosen;
}

// ---- round robin

constinit unsigned last_turn = 0;

actor in_turn() noexcept {
  actor chosen;
  const unsigned places = 2 * state.cpu_count + 1;
  unsigned best = ~0u;
  for_actors([&](const actor& one) {
    const unsigned distance = (one.place() + places - last_turn - 1) % places;
    if (distance < best) {
      best = distance;
      chosen = one;
    }
  });
  if (chosen.what != actor::kind::nobody) last_turn = chosen.place();
  return chosen;
}

// ---- delay-bounded scheduling (Emmi, Qadeer and Rakamaric, POPL 2011): a deterministic scheduler. It lets one go on
// until it waits or spins, and then takes the next in turn. At a few random choices it skips the one that it would
// take.

constexpr unsigned delays = 3;
constinit bool passes = false;

actor with_delays() noexcept {
  const bool delay = is_point(delays);
  const bool goes_on = !passes && last.can_act();
  passes = false;
  const actor chosen = goes_on ? last : in_turn();
  return delay ? in_turn() : chosen;
}

actor by_choices_of_host() noexcept {
  thread_record* const chosen = choose_systematically(running, running_count);
  return chosen != nullptr ? actor{actor::kind::thread, chosen} : actor{};
}

actor choose_actor() noexcept {
  switch (state.scheduling) {
    case schedule_order::priorities:
      return by_priority();
    case schedule_order::round_robin:
      return in_turn();
    case schedule_order::delay_bounded:
      return with_delays();
    case schedule_order::partial_order:
      return by_partial_order();
    case schedule_order::uniform_walk:
      return by_uniform_walk();
    case schedule_order::systematic:
      return by_choices_of_host();
    default:
      return at_random();
  }
}

void start_order(std::uint64_t seed) noexcept {
  state.schedule_seed = seed;
  state.traces = state.wants_trace;
  if (state.traces) write_record(number_record::schedule, seed);
  if (state.max_steps != 0) state.last_step = state.steps + state.max_steps;
  state.random.seed(seed);
  next_lowest = lowest_drawn;
  draw_points();
  last = {actor::kind::thread, state.current};
  last_turn = 0;
  passes = false;
  steps_in_a_row = 0;
  steps_of_drawn = 0;
  draw_priorities(*state.current);
  forget_held_locks();
  clock_priority = lowest_drawn + state.random.below(2 * lowest_drawn);
  if (state.scheduling == schedule_order::uniform_walk) begin_walk();
}

/// By this, the reader of the steps recognises the library: an address after that function's begin.
void record_library() noexcept {
  if (state.traces)
    write_record(number_record::library_code, reinterpret_cast<std::uintptr_t>(&txsync_sim_pthread_create) + 1);
}

/// A schedule is the same whatever ran before it.
void start_time() noexcept {
  state.current->time = 0;
  for (unsigned i = 0; i < state.cpu_count; ++i) state.cpus[i].free_since = 0;
}

}  // namespace

void begin_schedule(std::uint64_t seed) noexcept {
  drain_own();
  forget_notes();
  start_order(seed);
  deadlines_come_early = true;
  steps_without_write = 0;
  start_time();
}

void begin_own_schedule(schedule_order order, std::uint64_t seed, std::uint64_t expected) noexcept {
  drain_own();
  steps_without_write = 0;
  state.scheduling = order;
  state.unjoined_threads = 0;  // those that were never joined have ended
  expected_choices = expected;
  start_order(seed);
  record_library();
  start_time();
}

std::uint64_t choices_of_schedule() noexcept { return choices; }

void begin_only_schedule(std::uint64_t expected) noexcept {
  expected_choices = expected;
  start_order(state.seed);
  record_library();
}

void write_exploration() noexcept {
  if (state.scheduling == schedule_order::systematic) end_segments();
  write_record(number_record::choices, choices);
  write_record(number_record::steps, state.steps);
  write_record(number_record::switches, state.switches);
  if (!state.follows_program) return;
  write_shared_codes();
  write_word_uses();
  if (!finds_races()) write_record(number_record::races_unseen, 1);
}

void expect_such_schedules() noexcept {
  constexpr std::uint64_t least = 16;
  expected_choices = choices < least ? least : choices + choices / 4;
  if (state.counts_uses) walk_by_counted_uses();
}

void takes_part(thread_record& thread) noexcept {
  unsigned place = running_count++;
  for (; place != 0 && running[place - 1]->cpu > thread.cpu; --place) running[place] = running[place - 1];
  running[place] = &thread;
}

void takes_no_part(thread_record& thread) noexcept {
  unsigned place = 0;
  while (running[place] != &thread) ++place;
  for (--running_count; place < running_count; ++place) running[place] = running[place + 1];
}

namespace {

/// Lets `first` act, and then others, until it is a thread's turn.
thread_record* turn_after(const actor& first) noexcept {
  for (last = first;; last = choose_actor()) {
    switch (last.what) {
      case actor::kind::buffer:
        ++state.steps;
        drain_oldest(*last.thread);
        break;
      case actor::kind::clock:
        ++state.steps;
        if (state.scheduling == schedule_order::priorities) clock_priority = --next_lowest;
        fire_deadline();
        break;
      case actor::kind::thread:
        return last.thread;
      case actor::kind::nobody:
        if (!has_deadline()) return nullptr;
        fire_deadline();
        break;
    }
  }
}

}  // namespace

thread_record* choose_explored() noexcept {
  steps_in_a_row = 0;
  return turn_after(choose_actor());
}

void writes_in_program() noexcept { steps_without_write = 0; }

void step_to_chosen() noexcept {
  if (state.follows_program && has_deadline()) let_due_deadline_come();
  thread_record* next = turn_after(state.scheduling == schedule_order::random ? anyone() : choose_actor());
  if (next == nullptr) report_deadlock();  // in the systematic order, a step may be the begin of a wait
  if (next != state.current) {
    steps_in_a_row = 0;
    return switch_to(*next);
  }
  if (!state.follows_program || running_count < 2 || ++steps_in_a_row < max_steps_in_a_row) return;
  steps_in_a_row = 0;
  spun(*next);
}

void spun(thread_record& thread) noexcept {
  if (state.scheduling == schedule_order::priorities) thread.priority = --next_lowest;
  if (state.scheduling == schedule_order::delay_bounded) passes = true;
  if (state.scheduling == schedule_order::systematic) passes_in_systematic();
}

void draw_priorities(thread_record& thread) noexcept {
  thread.priority = drawn_priority();
  if (state.store_buffers) thread.drain_priority = drawn_priority();
  if (state.scheduling == schedule_order::uniform_walk) started_in_walk(thread);
}

}  // namespace txsync::sim
