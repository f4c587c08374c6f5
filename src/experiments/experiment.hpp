// SPDX-License-Identifier: Apache-2.0
// Experiments as data: which workload on which machine gives a paper's figure, and the numbers that the paper gives.
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
  abort_rate,            ///< attempts that aborted, in percent of all
  transactional_cycles,  ///< cycles in attempts, in percent of all that the threads had
  aborted_cycles,        ///< cycles in attempts that aborted, in percent of those in attempts
  throughput,            ///< operations a second, all threads together
  cycles_each,           ///< cycles of one thread for one operation
  attempt_cycles,        ///< cycles in attempts, for each that began
};
/// "abort rate", ...
const char* to_string(quantity what) noexcept;
/// "%", "operations/s" or "cycles".
const char* unit_of(quantity what) noexcept;

/// How one number comes from the curves.
enum class reading : std::uint8_t {
  value,           ///< that of the variant at the position
  ratio,           ///< over that of the variant `beside` at the same position
  excess,          ///< beyond that of `beside`
  crossing,        ///< the first position where the curve reaches `level`, in units of the axis, interpolated
  crossing_ratio,  ///< over that of `beside`
};

/// What the model has to do with a number.
enum class standing : std::uint8_t {
  fit,          ///< the model was fitted to it: no evidence that the model is right
  held_out,     ///< it was not
  closed_form,  ///< computed from the model's own numbers: evidence that the simulation does what the model says
};
/// "fit", "held out" or "closed form".
const char* to_string(standing how) noexcept;

/// Where a number has to lie; a bound that is not there is infinite.
struct range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
constexpr range exactly(double value) noexcept { return {value, value}; }
constexpr range between(double low, double high) noexcept { return {low, high}; }
constexpr range at_least(double low) noexcept { return {.low = low}; }
constexpr range at_most(double high) noexcept { return {.high = high}; }

/// A number that a paper gives, or that a formula does.
struct fact {
  std::string variant;
  std::uint64_t at = 0;  ///< position, a value of the swept parameter; not used by crossings
  range expected = {};
  standing how = standing::held_out;
  std::string source = {};  ///< where it stands: "Fig 3.1, as drawn"
  std::optional<quantity> what = {};
  reading read = reading::value;
  std::string beside = {};                      ///< a variant
  std::optional<std::uint64_t> beside_at = {};  ///< its position, where that is another; of ratios
  double level = 50;                            ///< of crossings
  std::string answers = {};  ///< the line of the issue that asked for it: "C1-2"; the document then has a claim
};

/// The same facts as answers to a line of an issue.
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
  unsigned threads = 1;  ///< where the axis has none
  std::vector<setting> settings = {};
};

/// The parameter that is varied along a curve: one of the workload's, or this one.
inline constexpr const char* by_threads = "threads";
struct axis {
  std::string key;
  std::string words;  ///< "KiB written"
  std::vector<std::uint64_t> positions;
  double scale = 1;                     ///< a position in units of the axis is so many times the parameter's value
  std::vector<std::string> names = {};  ///< of the positions, where their numbers say nothing
};

struct experiment {
  std::string id;
  std::string title;
  std::string source;   ///< the paper and its figure
  std::string machine;  ///< a name of machines/
  std::string workload;
  std::uint64_t operations = 300;  ///< of each thread, at each point
  /// Virtual, instead of operations: where threads do what they come to, and a lock need not give each the same.
  std::uint64_t microseconds = 0;
  quantity measured = quantity::abort_rate;
  axis along;
  std::vector<variant> variants;
  std::vector<fact> facts;
  /// How far a simulated number may be off and is no miss: points of what is in percent, else percent of the number.
  double points_off = 5;
  double percent_off = 15;
  std::vector<setting> changes = {};  ///< of the machine: where a formula leaves out what the machine has
  bool cold = false;                  ///< what is set up is in no cache when it is measured
  std::string remark = {};
};

/// All of them, in the order in which `txsync lab all` runs them. Ids are unique.
const std::vector<experiment>& all();
/// Null when there is none of that id.
const experiment* find(std::string_view id);

/// Words of several groups: the thesis's machine, and the lock that is an attempt and nothing else.
inline constexpr const char* thesis_machine = "haswell-i5-4670t";
inline constexpr const char* bare_attempt = "attempt";

/// The groups that all() consists of, each in a file of its own.
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
