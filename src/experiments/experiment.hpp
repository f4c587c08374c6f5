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

namespace txsync::inline TXSYNC_BACKEND::experiments {

/// What is read from a simulated run.
enum class quantity : std::uint8_t {
  abort_rate,            ///< aborted attempts, in percent of all attempts
  transactional_cycles,  ///< cycles in attempts, in percent of all cycles of the threads
  aborted_cycles,        ///< cycles in aborted attempts, in percent of cycles in attempts
  throughput,            ///< operations per second of all threads together
  cycles_each,           ///< cycles of one thread per operation
  attempt_cycles,        ///< cycles in attempts, per attempt
};
/// The name as printed: "abort rate", ...
const char* to_string(quantity what) noexcept;
/// "%", "operations/s" or "cycles".
const char* unit_of(quantity what) noexcept;

/// How one number is computed from the curves.
enum class reading : std::uint8_t {
  value,           ///< the value of the variant at the position
  ratio,           ///< divided by the value of the variant `beside` at the same position
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
  /// The line that asks for this number: "C1-2". The document then has a claim.
  std::string answers = {};
};

/// Marks the facts as answers to a line of an issue.
inline std::vector<fact> answering(const char* line, std::vector<fact> facts) {
  for (fact& one : facts) one.answers = line;
  return facts;
}

struct setting {
  std::string key;
  std::uint64_t value;
};

/// One curve.
struct variant {
  std::string name;
  std::string subject;
  unsigned threads = 1;  ///< if the axis does not vary threads
  std::vector<setting> settings = {};
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

struct experiment {
  std::string id;
  std::string title;
  std::string source;   ///< the paper and its figure
  std::string machine;  ///< name of a model in machines/
  std::string workload;
  std::uint64_t operations = 300;  ///< by each thread, at each point
  /// Virtual time of a run, instead of `operations`: each thread does as many operations as the lock lets it do.
  std::uint64_t microseconds = 0;
  quantity measured = quantity::abort_rate;
  axis along;
  std::vector<variant> variants;
  std::vector<fact> facts;
  /// How far a simulated number may be off and still hit: in percentage points for percentages, else in percent of the
  /// number.
  double points_off = 5;
  double percent_off = 15;
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
std::vector<experiment> shore_mt();
std::vector<experiment> always_abort_barrier();
std::vector<experiment> always_abort();
std::vector<experiment> published();
std::vector<experiment> closed_form_checks();

}  // namespace txsync::inline TXSYNC_BACKEND::experiments
