// SPDX-License-Identifier: Apache-2.0
// Experiments as data: which workload on which machine reproduces a paper's figure, and the paper's numbers.
// `txsync lab` runs them; docs/lab.md explains what it prints.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

/// What is read from a simulated run.
enum class quantity : std::uint8_t {
  abort_rate,            ///< aborted attempts, in percent of all attempts
  transactional_cycles,  ///< cycles in attempts, in percent of all cycles of the threads
  aborted_cycles,        ///< cycles in aborted attempts, in percent of cycles in attempts
  throughput,            ///< operations per second of all threads together
  cycles_each,           ///< cycles of one thread per operation
  attempt_cycles,        ///< cycles in attempts, per attempt
  attempts_a_commit,     ///< attempts, per commit
  conflict_aborts,       ///< aborts by conflict, in percent of all aborts
};
/// The name as printed: "abort rate", ...
const char* to_string(quantity what) noexcept;
/// "%", "operations/s", "cycles" or "attempts".
const char* unit_of(quantity what) noexcept;

/// How one number is computed from the curves.
enum class reading : std::uint8_t {
  value,           ///< the value of the variant at the position
  ratio,           ///< divided by the value of the variant `beside` at the same position
  gain,            ///< `ratio` minus 1, in percent
  excess,          ///< minus the value of `beside`
  crossing,        ///< the first position where the curve reaches `level`, in units of the axis, interpolated
  crossing_ratio,  ///< divided by the crossing of `beside`
};

/// How the model relates to a number.
enum class standing : std::uint8_t {
  fit,          ///< the model was fitted to it: no evidence that the model is right
  held_out,     ///< the model was not fitted to it
  closed_form,  ///< computed from the model's own numbers: evidence that the simulation does what the model says
};
/// "fit", "held out" or "closed form".
const char* to_string(standing how) noexcept;

/// Where a number has to lie. A missing bound is infinite.
struct range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
constexpr range exactly(double value) noexcept { return {value, value}; }
constexpr range between(double low, double high) noexcept { return {low, high}; }
constexpr range at_least(double low) noexcept { return {.low = low}; }
constexpr range at_most(double high) noexcept { return {.high = high}; }

/// How far a simulated number may be from the one number that a paper gives, and still hit it. A range has no allowance,
/// because its bounds already contain that of a drawing or a sentence.
struct tolerance {
  double points;   ///< for numbers in percent: percentage points
  double percent;  ///< for other numbers: percent of the number
};
/// All tolerances. docs/lab.md has the same table.
inline constexpr tolerance of_papers{5, 15};
inline constexpr tolerance of_closed_forms{2, 15};
inline constexpr tolerance of_table_1{5, 3};  ///< the always-abort paper's Table I

/// A number from a paper or from a formula.
struct fact {
  std::string variant;
  std::uint64_t at = 0;  ///< the position, a value of the swept parameter; crossings do not use it
  range expected = {};
  standing how = standing::held_out;
  std::string source = {};  ///< where the paper gives it: "Fig 3.1, as drawn"
  std::optional<quantity> what = {};
  reading read = reading::value;
  std::string beside = {};                      ///< the variant to compare with
  std::optional<std::uint64_t> beside_at = {};  ///< the position of `beside` if it differs from `at`; only for ratios
  double level = 50;                            ///< only for crossings
  /// The goal that asks for this number: "C1-2" (docs/goals.md). The document then has a claim.
  std::string answers = {};
};

/// Marks the facts as answers to a goal.
inline std::vector<fact> answering(const char* line, std::vector<fact> facts) {
  for (fact& one : facts) one.answers = line;
  return facts;
}

struct setting {
  std::string key;
  std::uint64_t value;
};

/// One curve. The last three members are for whole programs only.
struct variant {
  std::string name;
  std::string subject;
  unsigned threads = 1;  ///< if the axis does not vary threads
  std::vector<setting> settings = {};
  std::string file = {};   ///< the program's file, in the folder of its files
  std::string locks = {};  ///< the policy of its pthread locks, in words of policy files; empty: the built-in one
  bool peer = false;       ///< the locks are not txsync's, or have no speculation, and others are compared with it
};

/// The parameter that varies along a curve: one of the workload's parameters, or this one.
inline constexpr const char* by_threads = "threads";
struct axis {
  std::string key;
  std::string words;  ///< "KiB written"
  std::vector<std::uint64_t> positions;
  double scale = 1;                     ///< a position in units of the axis is the parameter's value times `scale`
  std::vector<std::string> names = {};  ///< names of the positions, if their numbers mean nothing
};

/// A whole program that an experiment runs instead of a workload. txsync-c++ has built it from the program's own sources
/// and a driver, which writes what driver_output.hpp reads.
struct program {
  std::string name;            ///< with its version: "LevelDB 1.23"
  std::string folder;          ///< that its files are in, within the folder of all such programs
  std::string built_by;        ///< the command that builds them
  std::string operations_key;  ///< the name of `operations` in a point's parameters
  std::string operations_are;  ///< what they are: "operations a thread"
  /// Of the driver. {folder}, {workload}, {threads}, {operations} and {seed} stand for what differs from run to run, and
  /// names of settings for their values. The driver writes to the file {folder}/result.
  std::vector<std::string> arguments;
  std::vector<setting> settings;  ///< more parameters of a point
  /// The name of {folder}, a new one for each run, as mkdtemp() takes it. The program sees how long it is, so a longer
  /// name changes the end hash.
  std::string run_folder;
  unsigned seeds = 1;  ///< runs of a point, each with a seed of its own; their median counts
  /// Subtracts from a point's attempts those of a run without operations, by one thread: of filling and checking.
  bool only_operations = false;
};

struct experiment {
  std::string id;
  std::string title;
  std::string source;   ///< the paper and its figure
  std::string machine;  ///< name of a model in machines/
  std::string workload;
  std::optional<program> whole_program = {};  ///< then `workload` is one of the program's own
  std::uint64_t operations = 300;             ///< by each thread, at each point
  /// Virtual time of a run, instead of `operations`: each thread does as many operations as the lock lets it do.
  std::uint64_t microseconds = 0;
  quantity measured = quantity::abort_rate;
  axis along;
  std::vector<variant> variants;
  std::vector<fact> facts;
  tolerance allowed = of_papers;
  std::vector<setting> changes = {};  ///< changes of the machine model, for properties that the formula ignores
  bool cold = false;                  ///< after the set-up, its data is in no cache when measuring begins
  std::string remark = {};
};

/// All experiments, in the order in which `txsync lab all` runs them. Ids are unique.
const std::vector<experiment>& all();
/// Null if no experiment has that id.
const experiment* find(std::string_view id);

/// Names that several groups use: the thesis's machine, and the lock that is only an attempt.
inline constexpr const char* thesis_machine = "haswell-i5-4670t";
inline constexpr const char* bare_attempt = "attempt";

/// The groups of all(), each in its own file.
std::vector<experiment> thesis_capacity();
std::vector<experiment> thesis_attempts();
std::vector<experiment> thesis_locks();
std::vector<experiment> thesis_counters();
std::vector<experiment> thesis_structures();
std::vector<experiment> leveldb();
std::vector<experiment> whole_programs();
std::vector<experiment> shore_mt();
std::vector<experiment> always_abort_barrier();
std::vector<experiment> always_abort();
std::vector<experiment> published();
std::vector<experiment> closed_form_checks();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
