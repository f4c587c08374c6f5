// SPDX-License-Identifier: Apache-2.0
#include "own_exploration.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "access.hpp"
#include "exploration.hpp"
#include "failure.hpp"
#include "heap.hpp"
#include "program_steps.hpp"
#include "records.hpp"
#include "state.hpp"
#include "store_buffer.hpp"

extern "C" [[gnu::weak]] int txsync_sim_explore_next(void);
extern "C" void txsync_sim_failed();

namespace txsync::sim {

namespace {

enum class phase : std::uint8_t {
  learning,            ///< which instructions race
  counting_all_steps,  ///< how many choices there are, if each access is a step
  counting,            ///< likewise in the other schedules
  exploring,
  over
};

constinit int word_count = 0;
constinit char** command = nullptr;

constexpr unsigned max_name = 256;

struct own_exploration {
  txsync_sim_exploration asked{};
  char name[max_name] = {};  ///< the one that was asked for, and "#2" at the second exploration with that name
  bool goes_on = false;      ///< a schedule is running, or the next one may
  bool simulates = false;
  bool has_run = false;  ///< a schedule
  phase now = phase::learning;
  std::uint64_t number = 0;  ///< of the next schedule of the phase
  unsigned runs = 0;         ///< of the phases that come first
  std::uint64_t step_count = 0;
  std::uint64_t begun_at = 0;  ///< state.steps
  std::uint64_t all_choices[profile_runs::learning] = {};
  std::uint64_t expected = 1;
  std::uint64_t expected_of_all_steps = 1;
  schedule_order order = schedule_order::random;
  std::uint64_t seed = 0;
  std::uint64_t explored = 0;
};
constinit own_exploration own{};

/// How many explorations had a name that begins so, by a hash of it. Of names with one hash, some may be numbered.
constexpr unsigned name_counts = 1024;
constinit std::uint16_t counts_of_names[name_counts] = {};

/// Of a repeated schedule.
constinit const char* repeated = nullptr;
constinit schedule_order repeated_order = schedule_order::random;

bool is_repeated() noexcept { return repeated != nullptr; }

schedule_order order_of(std::uint64_t number) noexcept {
  if (is_repeated()) return repeated_order;
  if (own.asked.order != 0) return static_cast<schedule_order>(own.asked.order);
  return orders_of_programs[number % std::size(orders_of_programs)];
}

std::uint64_t median_of_choices() noexcept {
  std::sort(own.all_choices, own.all_choices + own.number);
  return std::max(profile_runs::min_choices, own.all_choices[own.number / 2]);
}

void limit_steps() noexcept {
  state.max_steps = own.asked.max_steps;
  if (state.max_steps == 0)
    state.max_steps = std::max(profile_runs::min_limit, profile_runs::steps_for_one * own.step_count);
}

void check_that_threads_have_ended() noexcept {
  if (state.live_threads == 1) return;
  fail("a schedule is over, but a thread that it has started is not joined; allowed: a body that joins its threads");
}

/// The schedule that has run was of a phase that comes before the others.
void learn_from_schedule() noexcept {
  const std::uint64_t steps = state.steps - own.begun_at;
  if (own.now == phase::learning) {
    own.step_count = std::max(own.step_count, steps);
    if (steps >= profile_runs::max_steps) own.runs = std::min(own.runs, profile_runs::of_long_program);
    if (++own.number < own.runs) return;
    own.runs = std::min(own.runs, profile_runs::counting);
    limit_steps();
    own.now = phase::counting_all_steps;
  } else {
    own.all_choices[own.number] = choices_of_schedule();
    if (own.number == 0) walk_by_counted_uses();
    if (++own.number < own.runs) return;
    const bool is_last = own.now == phase::counting;
    (is_last ? own.expected : own.expected_of_all_steps) = median_of_choices();
    own.now = is_last ? phase::exploring : phase::counting;
  }
  own.number = 0;
}

void end_schedule() noexcept {
  check_that_threads_have_ended();
  if (own.now != phase::exploring) return learn_from_schedule();
  ++own.number;
  ++own.explored;
}

void begin_schedule_of_phase() noexcept {
  const bool explores = own.now == phase::exploring;
  own.seed = explores ? own.asked.seed + own.number : own.number;
  own.order = explores                     ? order_of(own.number)
              : own.now == phase::learning ? profile_runs::order_of(own.seed)
                                           : schedule_order::random;
  const bool learns = explores ? has_all_steps(own.seed) : own.now != phase::counting;
  begin_program_schedule(learns, own.now == phase::learning);
  begin_schedule_of_races(own.asked.races != 0 && explores ? nullptr : mark_races);
  choose_uses(learns);
  if (!explores && own.now != phase::learning && own.number == 0) count_word_uses();
  return_freed_blocks();
  state.store_buffers = own.asked.store_buffers != 0 && explores;
  // A schedule of the first phases has no key of its own. The one with the seed 0 repeats them all.
  state.wants_trace = is_repeated() && (explores || own.asked.seed == 0);
  own.begun_at = state.steps;
  begin_own_schedule(own.order, own.seed, learns ? own.expected_of_all_steps : own.expected);
}

/// What is left of the schedules would disturb what comes after them.
void stop() noexcept {
  drain_own();
  own.goes_on = false;
  own.now = phase::over;
  begin_schedule_of_races(mark_races);
  end_program_schedules();
  state.traces = state.wants_trace = state.store_buffers = state.counts_uses = false;
  state.scheduling = schedule_order::random;
  state.max_steps = 0;
  state.last_step = ~std::uint64_t{0};
}

bool runs_schedule() noexcept { return own.goes_on && own.simulates && own.has_run; }

void name_exploration() noexcept {
  std::uint32_t hash = 2166136261u;  // FNV-1a (Fowler, Noll, Vo)
  for (const char* at = own.asked.name; *at != 0; ++at) hash = (hash ^ static_cast<unsigned char>(*at)) * 16777619u;
  const unsigned count = ++counts_of_names[hash % name_counts];
  line_text name;
  name << own.asked.name;
  if (count > 1) name << "#" << count;
  if (name.size() >= max_name) fail("the name of an exploration is too long; allowed: 255 characters");
  std::memcpy(own.name, name.text(), name.size() + 1);
  own.asked.name = own.name;
}

std::uint64_t schedules_by_environment(std::uint64_t otherwise) noexcept {
  const char* const text = std::getenv(option::own_schedules);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text, &end, 10);
  if (*text >= '0' && *text <= '9' && *end == 0 && number != 0) return number;
  line_text line;
  line << option::own_schedules << "=" << text << " is not understood; allowed: a number of schedules, at least 1";
  fail(line);
}

/// A word as a shell reads it.
void add_word(line_text& line, const char* word) noexcept {
  constexpr char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:=@,%#";
  line << " ";
  if (*word != 0 && word[std::strspn(word, safe)] == 0) {
    line << word;
    return;
  }
  line << "'";
  for (; *word != 0; ++word) line << (*word == '\'' ? std::string_view("'\\''") : std::string_view(word, 1));
  line << "'";
}

void add_key(line_text& into) noexcept {
  const bool explores = own.now == phase::exploring;
  line_text line;
  line << own.asked.name << "@" << name_of(explores ? own.order : schedule_order::random);
  if (own.asked.store_buffers != 0) line << "+" << mode_word::store_buffers;
  if (own.asked.races != 0) line << "+" << mode_word::races;
  line << "@" << (explores ? own.seed : 0);
  add_word(into, line.text());
}

}  // namespace

bool can_explore_itself() noexcept { return txsync_sim_explore_next != nullptr; }

void keep_command(int count, char** words) noexcept {
  word_count = count;
  command = words;
}

void expect_own_explorations() noexcept {
  state.explores_itself = true;
  repeated = std::getenv(option::repeats);
  repeated_order = state.scheduling;
  state.wants_trace = false;
  follow_program(false, false);
  if (!state.store_buffers) set_up_store_buffers();
  state.store_buffers = false;
  state.scheduling = schedule_order::random;
  state.max_steps = 0;
  state.last_step = ~std::uint64_t{0};
}

void add_repetition(line_text& line) noexcept {
  if (!runs_schedule() || is_repeated()) return;
  line << "txsync explore: again: txsync replay";
  add_key(line);
  line << " --";
  for (int i = 0; i < word_count; ++i) add_word(line, command[i]);
  line << "\n";
}

namespace {

/// What was wrong, and how to repeat it. In a repetition, the reader of the records says so.
void say_that_schedule_failed(const char* why) noexcept {
  if (is_repeated()) return;
  line_text line;
  line << "txsync explore: " << own.name << ": " << why << "\n";
  add_repetition(line);
  (void)!write(STDERR_FILENO, line.text(), line.size());
}

/// Otherwise a test that explored nothing looks like one that found nothing.
void say_that_none_failed() noexcept {
  if (is_repeated()) return;
  line_text line;
  line << "txsync explore: " << own.name << ": " << own.explored << " schedules, no failure\n";
  (void)!write(STDERR_FILENO, line.text(), line.size());
}

}  // namespace

int ends_within_schedule(int status) noexcept {
  if (!runs_schedule()) return status;
  say_that_schedule_failed("the body has ended the program");
  return status != 0 ? status : failure_status;
}

void end_interrupted_exploration(int signal) noexcept {
  if (!runs_schedule() || is_repeated()) return;
  line_text line;
  line << "txsync explore: " << own.name << ": interrupted after " << own.explored << " of " << own.asked.schedules
       << " schedules\n";
  (void)!write(STDERR_FILENO, line.text(), line.size());
  constexpr int by_signal = 128;
  _exit(by_signal + signal);
}

void begin_own_exploration(const txsync_sim_exploration& asked) noexcept {
  leave_attempt(cause::syscall);
  if (own.goes_on) fail("txsync::explore() is called within an exploration");
  own = {};
  own.asked = asked;
  own.asked.seed = std::max<std::uint64_t>(asked.seed, 1);  // the key with the seed 0 is that of what comes first
  own.goes_on = true;
  own.simulates = state.explores_itself;
  own.runs = profile_runs::learning;
  name_exploration();
  if (!own.simulates) return write_record(number_record::own_explorations, 1);
  if (state.live_threads != 1)
    fail("txsync::explore() is called beside other threads; allowed: where there is one thread");
  own.asked.schedules = schedules_by_environment(own.asked.schedules);
  state.max_steps = own.asked.max_steps != 0 ? own.asked.max_steps : profile_runs::max_steps_of_first;
  if (!is_repeated()) return;
  own.asked.seed = state.seed;
  own.asked.schedules = 1;
  own.goes_on = std::strcmp(repeated, own.asked.name) == 0;
}

bool begins_next_schedule() noexcept {
  if (!own.goes_on) return false;
  if (!own.simulates) {
    own.goes_on = own.explored == 0;
    if (own.goes_on) ++own.explored;
    return own.goes_on;
  }
  leave_attempt(cause::syscall);
  if (own.has_run) end_schedule();
  own.has_run = true;
  // To repeat the seed 0 is to repeat what comes before the others.
  if (own.now == phase::exploring && (own.number >= own.asked.schedules || own.asked.seed == 0)) {
    say_that_none_failed();
    stop();
    return false;
  }
  begin_schedule_of_phase();
  return true;
}

void schedule_has_failed() noexcept {
  if (!own.goes_on) return;
  if (!own.simulates) {
    own.goes_on = false;
    return;
  }
  if (own.now == phase::exploring) ++own.explored;
  txsync_sim_failed();
  say_that_schedule_failed("a schedule failed");
  write_record(number_record::program, program_record::failed_seed, own.seed);
  stop();
}

std::uint64_t explored_schedules() noexcept { return own.explored; }

}  // namespace txsync::sim
