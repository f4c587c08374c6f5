// SPDX-License-Identifier: Apache-2.0
// Schedules of the built-in tests and of programs on the simulated machine: which tests there are, how they run, and
// keys that repeat one schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/words.hpp"
#include "observe/document/document.hpp"
#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"
#include "simulate/program_profile.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

/// The machines for schedules of programs and of tests: one without limits and interrupts, with many cores or few. Each
/// thread has a processor to itself, as long as there are enough. `word`: the machine whose hardware transactions a
/// program has. Throw bad_input.
sim::machine machine_of_programs(const std::optional<std::string>& word);
sim::machine machine_of_tests();

/// How schedules are made: ORDER, and what else they try, as ORDER+MODE.
struct schedule_kind {
  sim::schedule_order order = sim::schedule_order::random;
  bool store_buffers = false;
  unsigned probes = 0;  ///< bits of sim::probe
  bool races = false;   ///< of a program: a data race is a fault

  std::string text() const;
  /// "random".
  std::string order_word() const;
  base::words probe_words() const;
  /// Adds a mode by its name: "store-buffers", "races", or a probe. Throws bad_input.
  void add(const std::string& mode);
};
/// "random", "priorities", "delay-bounded", "partial-order", "uniform-walk" or "round-robin", and modes; throws
/// bad_input.
schedule_kind parse_kind(const std::string& text);

struct exploration_test {
  std::string name;
  std::string summary;
  std::string expected;  ///< "right", "broken", or "broken-with-MODE", which is right without that mode

  /// Whether an exploration of this kind has to find the fault that the test is seeded with.
  bool has_to_fail(const schedule_kind& how) const;
};

/// What is wrong where there are no such tests.
inline constexpr char no_tests[] =
    "this build has none of txsync's own tests (./dev build builds them); allowed: a program after --";

/// The tests of the image; none if this txsync has no simulated machine.
std::vector<exploration_test> exploration_tests();

/// One schedule of one test, or of a program: TEST@ORDER[+MODE]@SEED.
struct schedule_key {
  std::string test;  ///< a program's file name
  schedule_kind kind;
  std::uint64_t seed = 1;

  std::string text() const;
};
/// Complains of a test that is not among `names`, which are too many for one line.
std::string unknown_test(const std::string& name, const base::words& names);
/// Throws bad_input, but not if the test does not exist.
schedule_key parse_key(const std::string& text);
/// Throws bad_input if the key names no built-in test.
void check_test(const schedule_key& key);

constexpr std::uint64_t max_test_steps = 20'000;  ///< of one schedule; a longer one is a livelock

/// The request for `count` schedules from the key's on. The machine has no limits and interrupts: only the order
/// differs.
sim::image_request exploration_request(const schedule_key& first, std::uint64_t count);

/// What was wrong with a run, in one line: the test's own words, or why the simulation could not go on.
std::string complaint_of(const sim::image_result& seen, const std::string& image);

/// Whether each execution was made: known in the order systematic alone.
enum class exploration_completeness : std::uint8_t { not_known, partial, complete };

/// The result of exploring one test, or one program.
struct exploration_result {
  std::string subject;
  std::string order;
  std::uint64_t schedules = 0;
  double seconds = 0;
  bool failing = false;
  bool seeded = false;         ///< it has a fault that this kind of exploration has to find
  bool right = true;           ///< the result is the expected one
  std::string complaint = {};  ///< if it is failing
  schedule_key key;
  std::string again = {};             ///< the command that repeats the schedule that failed
  std::string error = {};             ///< why it could not be explored; then the rest has no meaning
  std::string ended_in = {};          ///< where a schedule was when a signal ended the exploration
  std::uint64_t races_unseen = 0;     ///< schedules in which, at some time, races were no longer looked for
  bool has_own_explorations = false;  ///< the program calls txsync::explore()
  exploration_completeness completeness = exploration_completeness::not_known;
  std::string partial_because = {};  ///< if it is partial
  std::uint64_t redundant = 0;       ///< runs in the order systematic that ended early, and are no schedules
};

/// Runs `schedules` schedules of a built-in test, from the key's on, until one fails.
exploration_result explore_test(const exploration_test& test, const schedule_key& first, std::uint64_t schedules);

/// How schedules are made, and how many of each test at most.
struct exploration_plan {
  std::vector<schedule_kind> kinds = {};  ///< used in turns; their modes are the same
  std::uint64_t schedules = 0;
  std::uint64_t steps = 0;  ///< of one schedule
  /// After a failing schedule of a program: how long to look for one with fewer switches between threads.
  std::uint64_t shorten_s = 0;

  std::string text() const;  ///< the kinds
};
/// Puts the plan into the document, and the machine in place of this one.
void begin_document(observe::document& into, const exploration_plan& plan, const sim::machine& machine);
/// Adds a result after the existing ones.
void add_to_document(observe::document& into, const exploration_result& result);

// ---- programs that txsync-c++ has built; each schedule runs in a process of its own

constexpr std::uint64_t min_default_steps = sim::profile_runs::min_limit;
constexpr std::uint64_t max_program_steps = 1'000'000'000'000;

struct program_exploration {
  base::words command;
  std::string name;  ///< of its file
  std::string path;
  std::uint64_t max_steps = min_default_steps;   ///< of one schedule
  bool has_default_steps = true;                 ///< max_steps is what look_at_program() sets
  std::optional<std::string> machine_word = {};  ///< the user's; none: the ideal machine
  sim::machine machine = {};
};
/// Throws bad_input if no such program could run, or if there is no such machine.
program_exploration program_to_explore(const base::words& command, const std::optional<std::string>& machine_word);
/// One run of the program. Sets the default of max_steps, there and in the plan: 20 times the steps of the run, but at
/// least min_default_steps. So a long program is no livelock. A run that does not end within some ten seconds is one.
/// With `adds_probes`, probes that end attempts join the plan if the program begins some. Throws sim::image_error.
void look_at_program(program_exploration& what, exploration_plan& plan, bool adds_probes);

/// Runs its schedules from that seed on, as many at a time as there are processors. It stops at the first that does not
/// end with exit status 0. It stops early when stop_on_signal is asked. A schedule that is ended by that counts for
/// nothing. Throws sim::image_error. In the systematic order they run one after the other (explore_systematically()).
exploration_result explore_program(const program_exploration& what, const exploration_plan& plan, std::uint64_t seed);
/// The same in the systematic order, one run after the other: until each execution was made once, or so many.
exploration_result explore_systematically(const program_exploration& what, const schedule_kind& kind,
                                          std::uint64_t max_executions);
/// The request for the run of that number, from 1. The runs before it are made again. Throws bad_input if there are fewer.
sim::image_request systematic_schedule(const program_exploration& what, const schedule_kind& kind,
                                       std::uint64_t number);
/// Throws bad_input if the kind is systematic, and has modes that this order has not.
void check_systematic(const schedule_kind& kind);
/// The command that repeats a schedule.
std::string again_by(const program_exploration& what, const schedule_key& key);
/// What a few runs show of it. Throws sim::image_error.
program_profile profile_of_program(const program_exploration& what);
/// The request for its schedule of that kind and seed.
sim::image_request program_schedule(const program_exploration& what, const schedule_kind& kind, std::uint64_t seed,
                                    const program_profile& profile);
/// The request for the schedule that the key names. It is one of the whole program, or one of an exploration that the
/// program makes itself, by txsync::explore(). `max_steps`: 0 stands for the default. Throws bad_input and
/// sim::image_error.
sim::image_request repeated_schedule(const schedule_key& key, const base::words& command,
                                     const std::optional<std::string>& machine_word, std::uint64_t max_steps);
/// Throws bad_input if the program has not made the exploration that the request names.
void check_that_it_ran(const sim::image_result& seen, const sim::image_request& request);
/// What was wrong with one; empty if it ended with exit status 0.
std::string complaint_of_schedule(const sim::image_result& seen, const std::string& path);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
