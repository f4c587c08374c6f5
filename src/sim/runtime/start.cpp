// SPDX-License-Identifier: Apache-2.0
// How an image starts: it reads options from the environment and the model from a file of plain lines. The program's
// main() is the first simulated thread. At the end it writes the records.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "abort_calls.hpp"
#include "abort_log.hpp"
#include "access.hpp"
#include "call_chain.hpp"
#include "co_resident_ways.hpp"
#include "exploration.hpp"
#include "failure.hpp"
#include "own_exploration.hpp"
#include "pages.hpp"
#include "probes.hpp"
#include "program_steps.hpp"
#include "records.hpp"
#include "systematic.hpp"

namespace txsync::sim {

constinit runtime_state state{};

[[gnu::used, gnu::section(TXSYNC_SIM_MACHINE_SECTION)]] constexpr std::uint32_t interface_of_image = machine_interface;

thread_record& make_thread(void (*function)(void*), void* argument, ticks at) noexcept;

namespace {

struct named_number {
  const char* name;
  std::uint32_t machine_model::* member;
  std::uint32_t least;
  std::uint32_t most;
};

constexpr named_number numbers[] = {
#define TXSYNC_SIM_NUMBER(section, key, least, most, unit, meaning) \
  {#section "." #key, &machine_model::section##_##key, least, most},
    TXSYNC_SIM_MODEL(TXSYNC_SIM_NUMBER)
#undef TXSYNC_SIM_NUMBER
};

constinit char model_text[1 << 16] = {};

/// One number a line, in the order of the list.
void parse_model(const char* path) noexcept {
  const char* at = model_text;
  for (const named_number& number : numbers) {
    const std::size_t length = std::strlen(number.name);
    char* end = nullptr;
    const bool right = std::strncmp(at, number.name, length) == 0 && at[length] == ' ';
    const unsigned long value = right ? std::strtoul(at + length + 1, &end, 10) : 0;
    if (!right || *end != '\n' || value < number.least || value > number.most) {
      line_text line;
      line << path << ": expected a line \"" << number.name << " NUMBER\" in its bounds; txsync writes this file";
      fail(line);
    }
    state.model.*number.member = static_cast<std::uint32_t>(value);
    at = end + 1;
  }
}

void read_model(const char* path) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? -1 : read(file, model_text, sizeof model_text - 1);
  if (size <= 0) {
    line_text line;
    line << "cannot read the machine's numbers in " << path;
    fail(line);
  }
  close(file);
  parse_model(path);
}

// machines/ideal.toml, as txsync would write it (CMakeLists.txt).
extern "C" const char txsync_sim_built_in_model[];
extern "C" const char txsync_sim_built_in_model_end[];
asm(R"(
.section .rodata
.globl txsync_sim_built_in_model
txsync_sim_built_in_model:
.incbin ")" TXSYNC_SIM_BUILT_IN_MODEL R"("
.globl txsync_sim_built_in_model_end
txsync_sim_built_in_model_end:
.text
)");

void take_built_in_model() noexcept {
  std::memcpy(model_text, txsync_sim_built_in_model,
              static_cast<std::size_t>(txsync_sim_built_in_model_end - txsync_sim_built_in_model));
  parse_model("the machine that is built in");
  state.model.core_sockets = 1;
  state.model.core_cores = cores_of_programs;
}

std::uint64_t number_option(const char* name, std::uint64_t otherwise) noexcept {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (end == text || *end != 0) {
    line_text line;
    line << name << " is not a number: " << text;
    fail(line);
  }
  return value;
}

constinit bool learns = false;
constinit bool races_are_faults = false;
constinit bool counts_uses = false;

/// Returns the number of choices that the run is expected to have.
std::uint64_t read_options() noexcept {
  set_record_file(static_cast<int>(number_option(option::records, ~std::uint64_t{0})));
  number_options asked;
  if (const char* model = std::getenv(option::model)) {
    read_model(model);
  } else if (can_explore_itself()) {
    take_built_in_model();
    asked.order = static_cast<std::uint64_t>(schedule_order::random);
  } else {
    fail(
        "this program is built for the simulated machine: start it by txsync explore -- PROGRAM, or by "
        "txsync sim --machine MACHINE -- PROGRAM");
  }
  number_options::each_option(
      asked, [](const char* name, std::uint64_t& number) noexcept { number = number_option(name, number); });
  state.seed = asked.seed;
  state.scheduling = static_cast<schedule_order>(asked.order % schedule_orders);
  state.looks_at_accesses =
      state.scheduling == schedule_order::partial_order || state.scheduling == schedule_order::uniform_walk;
  state.slack = cycles(asked.slack_cycles);
  state.oracle = asked.oracle != 0;
  state.uncharged_set_up = asked.uncharged_set_up != 0 && !state.oracle && !exploring();
  state.store_buffers = exploring() && asked.store_buffers != 0;
  if (state.store_buffers && state.oracle)
    fail("the oracle cannot check runs with store buffers; allowed: one of the two");
  state.probes = exploring() ? static_cast<unsigned>(asked.probes) : 0;
  state.variant = static_cast<unsigned>(number_option(option::variant, 0));
  state.wants_trace = asked.trace != 0;
  state.traces = state.wants_trace && !exploring();
  state.max_steps = asked.steps;
  if (state.max_steps != 0) state.last_step = state.max_steps;
  if (asked.limit_us != 0) state.time_limit = cycles(asked.limit_us * state.model.core_mhz);
  learns = asked.learns != 0;
  races_are_faults = asked.races != 0;
  counts_uses = asked.counts_uses != 0;
  return asked.choices;
}

void set_up_machine() noexcept {
  const machine_model& model = state.model;
  state.random.seed(state.seed);
  state.cpu_count = model.hardware_threads();
  state.lines.set_up(model.l1_line, model.total_cores(), state.cpu_count);
  state.line_shift = state.lines.line_shift();
  state.memory.set_up(model);
  set_up_co_resident_ways();
  set_up_pages();
  if (state.oracle) set_up_oracle();
  if (state.probes != 0) set_up_probes();
  if (state.store_buffers) set_up_store_buffers();
  state.cpus = static_cast<hardware_thread*>(reserve(0, state.cpu_count * sizeof(hardware_thread), "hardware threads"));
  for (unsigned i = 0; i < state.cpu_count; ++i) {
    hardware_thread& cpu = *new (&state.cpus[i]) hardware_thread;
    cpu.number = static_cast<std::uint16_t>(i);
    cpu.core = static_cast<std::uint16_t>(i / model.core_threads);
    cpu.socket = static_cast<std::uint16_t>(cpu.core / model.core_cores);
    cpu.plain.clear();
    cpu.in_attempt.clear();
  }
  state.threads = static_cast<thread_record*>(reserve(0, max_threads * sizeof(thread_record), "threads"));
  set_up_schedule();
}

struct arguments {
  int count;
  char** words;
  char** environment;
};
constinit arguments given{};

/// A text takes whole slots. So a word may differ between two runs, such as the path of a program that was moved. It
/// moves no other word, unless it takes more slots.
constexpr std::size_t bytes_of_slot = 256;
std::size_t slots_of(const char* word) noexcept { return std::strlen(word) / bytes_of_slot + 1; }

/// Copies the words to addresses that are the same in every run, which the kernel's are not. The copies take whole
/// steps of a size that few environments exceed, so that what follows them does not move with the environment. The
/// texts come before the table, so that the number of words moves none of them.
char** copy_words(char** words) noexcept {
  std::size_t count = 0;
  std::size_t slots = 0;
  for (; words[count] != nullptr; ++count) slots += slots_of(words[count]);
  const std::size_t bytes = slots * bytes_of_slot + (count + 1) * sizeof(char*);
  constexpr std::size_t step = std::size_t{1} << 20;
  char* text = reinterpret_cast<char*>(take_from_arena((bytes + step - 1) / step * step, step));
  auto** copy = reinterpret_cast<char**>(text + slots * bytes_of_slot);
  for (std::size_t i = 0; i < count; ++i) {
    copy[i] = text;
    std::memcpy(text, words[i], std::strlen(words[i]) + 1);
    text += slots_of(words[i]) * bytes_of_slot;
  }
  copy[count] = nullptr;
  return copy;
}

constinit bool finished = false;
constinit int exit_status = 0;

bool is_finished() noexcept { return finished; }

[[noreturn]] void finish(int status) noexcept {
  leave_attempt(cause::syscall);
  thread_record& self = *state.current;
  if (self.time > state.latest) state.latest = self.time;
  ends_process_in_segment();
  exit_status = ends_within_schedule(status);
  finished = true;
  switch_to_scheduler(self);
  __builtin_unreachable();
}

std::uint64_t end_hash() noexcept {
  std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a (Fowler, Noll, Vo)
  const auto mix = [&](std::uint64_t value) noexcept {
    for (int i = 0; i < 8; ++i) {
      hash = (hash ^ (value >> (8 * i) & 0xFF)) * 0x100000001B3u;
    }
  };
  mix(state.latest);
  mix(state.switches);
  mix(state.slow_accesses + state.hits);
  for (unsigned i = 0; i < state.thread_count; ++i) mix(state.threads[i].time);
  return hash;
}

void write_end() noexcept {
  write_record(number_record::time_cycles, state.latest / ticks_per_cycle);
  write_record(number_record::threads, state.thread_count);
  write_record(number_record::switches, state.switches);
  write_record(number_record::slow_accesses, state.slow_accesses);
  write_record(number_record::accesses, state.slow_accesses + state.hits);
  if (state.traces) end_trace();
  if (exploring()) write_exploration();
  write_abort_log();
  write_abort_calls();
  write_record(number_record::end_hash, end_hash());
  flush_records();
}

}  // namespace

}  // namespace txsync::sim

using namespace txsync::sim;

extern "C" {

int txsync_sim_user_main(int argc, char** argv, char** environment) __attribute__((weak));
void txsync_sim_at_end(void) __attribute__((weak));

void txsync_sim_record(const char* name, std::uint64_t value) {
  if (state.traces) end_trace();
  state.traces = false;  // the trace ends with the program's first record
  write_record(number_record::program, name, value);
}
void txsync_sim_record_test(const char* name, const char* expected, const char* summary) {
  write_record(test_record{name, expected, summary});
}
void txsync_sim_schedule_begin(std::uint64_t seed) {
  TXSYNC_SIM_ASSERT(std::count_if(state.threads, state.threads + state.thread_count,
                                  [](const thread_record& one) {
                                    return one.state != thread_state::unused && one.state != thread_state::ended;
                                  }) == 1,
                    "the thread that begins a schedule is the only one");
  begin_schedule(seed);
}
void txsync_sim_expect_such_schedules(void) { expect_such_schedules(); }
unsigned txsync_sim_variant(void) { return state.variant; }

void txsync_sim_exit(int status) { finish(status); }
void txsync_sim_quick_exit(int status) { finish(status); }
void txsync_sim_give_up(const char* why) {
  leave_attempt(cause::syscall);
  fail(why);
}
void txsync_sim_abort_program(void) {
  leave_attempt(cause::syscall);
  fail("the program has called abort()");
}

}  // extern "C"

namespace {

constinit std::uint64_t expected_choices = 0;

/// Before the program's static initialisers, which may lock, map pages and read clocks. They are not simulated.
void set_up_before_initialisers() noexcept {
  expected_choices = read_options();
  set_up_machine();
}
[[gnu::used, gnu::section(".preinit_array")]] void (*const before_initialisers)() = set_up_before_initialisers;

/// Other threads may go on before the program ends.
void step_before_end() noexcept {
  if (state.follows_program) explored_step();
}

void first_thread(void*) {
  const int status = txsync_sim_user_main(given.count, given.words, given.environment);
  step_before_end();
  finish(status);
}

int run(int count, char** words, char** environment) noexcept {
  if (!fs_base_is_ours()) fail("this CPU or kernel does not let programs set the FS base (FSGSBASE, Linux 5.9)");
  make_tables_of_frames();
  catch_crashes(number_option(option::patience, 20));
  keep_command(count, words);
  given = {count, copy_words(words), copy_words(environment)};
  environ = given.environment;  // what getenv() returns is memory of the program, too
  set_current(nullptr);
  thread_record& first = make_thread(first_thread, nullptr, 0);
  set_current(&first);
  // If it is 0, the program itself says where its schedules begin.
  if (exploring() && expected_choices == 0) {
    if (can_explore_itself()) {
      expect_own_explorations();
    } else if (state.scheduling == schedule_order::uniform_walk) {
      count_word_uses();
    }
  }
  if (exploring() && expected_choices != 0) {
    follow_program(learns, races_are_faults);
    if (counts_uses) count_word_uses();
    if (const char* path = std::getenv(option::word_uses)) walk_by_uses_of(path);
    begin_only_schedule(expected_choices);
    if (state.scheduling == schedule_order::systematic) set_up_systematic(std::getenv(option::chosen));
  }
  load_hot_state();
  run_scheduler(is_finished);
  set_current(nullptr);
  if (txsync_sim_at_end != nullptr) txsync_sim_at_end();
  write_end();
  return exit_status;
}

}  // namespace

int main(int count, char** words, char** environment) { return run(count, words, environment); }
