// SPDX-License-Identifier: Apache-2.0
// The result document: what every verb of txsync and every benchmark writes with --json FILE. docs/result-document.md
// explains each member; docs/result.schema.json is its schema. It only grows. A member is never renamed or removed, and
// it never changes its meaning or unit; new members may be added.
//
// A document is a plain record that one thread fills. to_json() makes the JSON; output (output.hpp) writes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "observe/statistics.hpp"
#include "observe/turns.hpp"
#include "sim/protocol.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// Keeps the order of insertion, so that documents have the order of their description.
using json = nlohmann::ordered_json;

inline constexpr int document_schema = 1;

/// The build that measured. Every result names it.
struct tool_record {
  std::string version;     ///< "0.1.0"
  std::string commit;      ///< of the checkout that was built, followed by "-dirty" if it had changes; or "unknown"
  std::string compiler;    ///< "GCC 12.2.0"
  std::string build_type;  ///< CMake's: "RelWithDebInfo"
  std::string sanitizers;  ///< "address,undefined"; empty without sanitizers
};

/// The build of this program.
tool_record this_tool();

/// Whose subject a point is about: ours, a peer's, or the printed numbers of a paper.
enum class subject_kind : std::uint8_t { ours, peer, paper };

/// "ours", "peer" or "paper".
constexpr const char* to_string(subject_kind kind) noexcept {
  return kind == subject_kind::ours ? "ours" : kind == subject_kind::peer ? "peer" : "paper";
}

/// How many attempts ended in which way, in all repetitions together.
struct attempt_record {
  std::uint64_t attempts = 0;
  std::uint64_t commits = 0;
  std::uint64_t fallbacks = 0;                                 ///< critical sections that took the real lock instead
  std::vector<std::pair<std::string, std::uint64_t>> aborts;   ///< first cause of each abort; words of abort_cause
  std::vector<std::pair<std::string, std::uint64_t>> signals;  ///< every cause that was signalled
};

/// How two accesses that conflicted shared nothing but the line: two objects, two blocks of a kind, or (perhaps) other
/// bytes of one.
enum class sharing_kind : std::uint8_t { none, objects, blocks, bytes };

/// Attempts of a point that ended for one cause, by the two places in the code that conflicted or by the one place.
struct abort_place {
  std::string cause;
  std::uint64_t count = 0;
  std::string own;    ///< "function (file:line)": the access that brought the line into the attempt
  std::string other;  ///< the access of another thread that conflicted; empty if there was none
  std::string line;   ///< address of the line, "0x..."; of several the most frequent; empty if there was none
  // What is known about the data:
  std::string data = {};    ///< "counters+64", "heap block of 48 bytes from insert (map.cpp:12)+8"; may be empty
  std::uint64_t lines = 0;  ///< how many lines; 0 without a line
  std::uint64_t different_bytes = 0;  ///< of `count`: conflicts at bytes that the attempt is not known to have touched
  sharing_kind sharing = sharing_kind::none;
  std::string own_data = {};          ///< like `data`, of the first such abort: what the attempt had touched
  std::string conflicting_data = {};  ///< likewise: what the other access touched
  sim::occupancy occupancy = {};      ///< if something was full; its `room` is 0 if that is not known
  // "function (file:line)", innermost first, of the first such abort; may be empty:
  std::vector<std::string> own_calls = {};    ///< where the attempt was when it ended
  std::vector<std::string> other_calls = {};  ///< where the thread was that ended it
};

/// Where attempts were when they ended, estimated from some of the aborts.
struct abort_end {
  std::string line;    ///< "function (file:line)" that the attempt had reached
  std::string caller;  ///< "function (file:line)" that had called that function; empty if unknown
  std::uint64_t count = 0;
  // From samples of hardware counters; without them empty and 0:
  std::string cause = {};    ///< word of abort_cause
  std::uint64_t cycles = 0;  ///< how long those attempts had run
};

/// In units of machine::cycles(), summed over the threads.
struct cycle_record {
  std::uint64_t total = 0;
  std::uint64_t transactional = 0;  ///< in attempts that committed
  std::uint64_t aborted = 0;        ///< in attempts that aborted
};

/// Percentiles of a duration in nanoseconds: ("p50", 120), ..., and the number of samples that they come from.
struct percentile_record {
  std::uint64_t samples = 0;
  std::vector<std::pair<std::string, double>> values;
};

/// Rounds a percentile to the significant figures that it has, because it is the middle of a range that is 25 % wide.
/// 46137343 becomes 46000000.
double carried_figures(double percentile) noexcept;

/// The percentiles that are written if there are samples, with the fraction of the samples that each stands for.
inline constexpr std::pair<const char*, double> written_percentiles[] = {{"p10", 0.1},  {"p25", 0.25},   {"p50", 0.5},
                                                                         {"p75", 0.75}, {"p90", 0.9},    {"p95", 0.95},
                                                                         {"p99", 0.99}, {"p99.9", 0.999}};

/// What happened to an atomic block's software transactions (observe/attempts.hpp). Present if it ran some.
struct transaction_record {
  std::uint64_t commits = 0;
  std::uint64_t alone = 0;  ///< of these, those that ran serially, and irrevocable ones
  std::uint64_t waits = 0;  ///< how often retry() slept
  std::vector<std::pair<std::string, std::uint64_t>> aborts = {};  ///< by cause; words of abort_cause
};

/// Which path an atomic block first tries, and why (observe::path_note).
struct path_record {
  std::uint64_t noted = 0;            ///< when a thread of the block last looked; not in documents
  std::string algorithm = {};         ///< "auto"
  bool in_hardware = false;           ///< hardware first; else software from the start
  std::string reason = {};            ///< "algorithm", "cycles", "not-timed", "no-hardware" or "block-policy"
  std::uint64_t hardware_cycles = 0;  ///< the mean of recent blocks on that path; 0: `auto` has not timed it
  std::uint64_t software_cycles = 0;
};

/// What a site's waiters ran during their waits (observe/attempts.hpp). Present if they ran something.
struct warm_record {
  std::uint64_t runs = 0;
  std::uint64_t attempts = 0;                                      ///< of these, always-abort attempts
  std::uint64_t ns = 0;                                            ///< the time of all of them
  std::vector<std::pair<std::string, std::uint64_t>> aborts = {};  ///< first cause of each attempt's end
};

/// What happened to a site's hardware attempts (observe/attempts.hpp). Present if it made some.
struct speculation_record {
  std::uint64_t attempts = 0;   ///< exact, like the next two and the causes
  std::uint64_t commits = 0;    ///< an attempt may run several critical sections
  std::uint64_t failed = 0;     ///< critical sections that took the lock after their attempts had aborted
  std::uint64_t elided = 0;     ///< critical sections that ran in attempts that committed; as exact as commits
  std::uint64_t fallbacks = 0;  ///< critical sections that took the lock, with or without attempts before; estimated
  std::vector<std::pair<std::string, std::uint64_t>> aborts = {};  ///< first cause of each abort; words of abort_cause
  std::uint64_t lost_ns = 0;       ///< time in attempts that aborted; estimated from timed sections
  double lost_error_ns = 0;        ///< its standard error
  std::uint64_t lost_samples = 0;  ///< timed sections of which an attempt aborted

  /// Whether the standard error is half of lost_ns or more. Tables then do not show lost_ns: few sections were timed,
  /// or one of them stands for 32 in which nothing like it happened.
  bool lost_is_vague() const { return !aborts.empty() && 2 * lost_error_ns >= static_cast<double>(lost_ns); }
};

/// A lock site in one point, all repetitions and threads together.
struct site_record {
  std::string name;
  std::uint64_t acquisitions = 0;
  std::uint64_t unwatched = 0;  ///< of these, those of locks that do not count their waits
  std::uint64_t contended = 0;  ///< acquisitions that had to wait
  std::uint64_t wait_ns = 0;    ///< time between asking and getting, for the contended ones
  std::uint64_t hold_ns = 0;    ///< time between getting and giving up
  std::uint64_t condition_waits = 0;
  std::uint64_t condition_wait_ns = 0;
  percentile_record wait;  ///< of the contended acquisitions
  percentile_record hold;  ///< of the sampled acquisitions
  // For programs under `txsync run`; empty elsewhere:
  /// For pthread's locks "mutex", "rwlock", "spinlock" or "barrier"; "named" for a txsync::site.
  std::string kind = {};
  std::string where = {};   ///< "FILE:LINE", the file as the compiler knew it; empty without debug information
  std::string module = {};  ///< the program or library that contains the code
  std::vector<std::string> programs = {};    ///< whose locks they are: file names of executables, sorted
  std::optional<slow_thread> slowest = {};   ///< the slowest of its threads (observe/turns.hpp)
  std::vector<thread_turns> by_thread = {};  ///< not in documents
  std::uint32_t heeded = 0;                  ///< for named sites: policy_parts that its locks heed; not in documents
  // For all programs:
  std::uint64_t max_wait_ns = 0;         ///< the longest single wait, including waits that ended without the lock
  std::uint64_t failed_waits = 0;        ///< waits that ended without the lock: at a deadline, or not before the end
  std::uint64_t failed_wait_ns = 0;      ///< the time of these waits
  std::uint32_t unfinished_waits = 0;    ///< threads that still waited at the end
  std::uint64_t unfinished_wait_ns = 0;  ///< the time of their waits, which failed_wait_ns includes
  std::optional<speculation_record> speculation = {};
  std::optional<transaction_record> transactions = {};
  std::optional<path_record> path = {};
  std::optional<warm_record> warm_ups = {};

  /// Whether the site is an atomic block's, which has no lock.
  bool is_block() const {
    return acquisitions == 0 && condition_waits == 0 && all_wait_ns() == 0 && (speculation || transactions);
  }

  /// The acquisitions that `contended` is a part of.
  std::uint64_t watched() const { return acquisitions - std::min(unwatched, acquisitions); }
  /// False: no wait was counted, and of some acquisitions none would have been. Then 0 waits says nothing.
  bool counts_waits() const { return unwatched == 0 || contended != 0 || failed_waits != 0; }

  /// The time of all threads that waited, whether they got the lock or not.
  std::uint64_t all_wait_ns() const { return wait_ns + failed_wait_ns; }
};

/// How evenly the turns were shared among the threads of a point, and how long the threads waited for locks. Each list
/// has one value per repetition, in their order; it is empty if it was not measured.
struct fairness_record {
  std::vector<double> slowest_share;      ///< see observe::slowest_share()
  std::vector<double> busier_half_share;  ///< see observe::busier_half_share()
  // From separate runs in which every operation is timed:
  std::vector<double> p999_wait_ns;  ///< the wait in lock() that 99.9 % of the waits do not exceed
  std::vector<double> max_wait_ns;
  std::vector<double> wait_cpus;  ///< CPU time that all threads used in lock(), in seconds per second
};

/// How much of each repetition nothing disturbed, and what was measured then (workloads/harness/windows.hpp). Each list has
/// one value per repetition, in their order; it is empty if it was not measured.
struct undisturbed_record {
  std::vector<double> throughput;  ///< operations a second in the windows that count; 0: there were too few
  std::vector<double> share;       ///< of the measured phase: the time of these windows
  // How long a cache line took from one CPU to the other, before the repetition and after it:
  std::vector<double> line_before_ns;
  std::vector<double> line_after_ns;
};

/// One cell of a measurement: one subject on one workload, with one set of parameters and threads.
struct point {
  std::string workload;
  json params = json::object();  ///< every parameter by name, including defaults; a number or a word
  std::string preset;            ///< empty without a preset
  unsigned threads = 1;
  std::string placement;  ///< "cores-first", "smt-first", "socket=0", "none"
  std::string subject;    ///< "txsync::mutex"
  subject_kind kind = subject_kind::ours;
  std::string waiting;      ///< how the subject waits: "spins", "parks"; empty if that has no meaning
  bool speculates = false;  ///< simulated: the subject can run sections as hardware transactions, whether it did or not
  std::string metric;       ///< "throughput"
  std::string unit;         ///< "sections/s"
  better way = better::higher;
  std::vector<double> values;  ///< one per repetition, in the order of the rounds; a failed repetition has none

  std::vector<std::uint64_t> fewest;  ///< operations of the thread with the fewest, by repetition; may be empty
  std::vector<std::uint64_t> most;    ///< operations of the thread with the most
  fairness_record fairness;
  undisturbed_record undisturbed;
  std::vector<std::string> faults;  ///< repetitions that failed their own check, one sentence each
  unsigned unpinned = 0;            ///< threads that the system refused to pin; the largest number of all repetitions

  std::optional<attempt_record> attempts;
  std::optional<cycle_record> cycles;
  std::vector<abort_place> abort_places;   ///< most frequent first; of the first repetition
  std::vector<abort_end> abort_ends = {};  ///< likewise
  /// By kind of operation; "op" if there is only one.
  std::vector<std::pair<std::string, percentile_record>> latency;
  std::vector<std::pair<double, double>> series;  ///< (seconds since the start, operations until then)
  std::vector<site_record> sites;
  std::string end_hash;  ///< simulated: a hash of the machine's whole history
  std::string key;       ///< how to repeat it: a command, or a key for `txsync replay`
};

/// The answer to a numbered line of an issue.
struct claim {
  std::string id = {};                          ///< "A1-3"
  std::string words = {};                       ///< what is claimed; member "claim"
  json value = {};                              ///< the result: a number, a truth value or a word
  json goal = {};                               ///< what was asked for, of the same type
  observe::outcome outcome = outcome::missed;   ///< members "outcome" and "holds"; judge() computes it
  std::vector<std::size_t> from = {};           ///< indices into document::points of the points it was computed from
  std::optional<interval> value_interval = {};  ///< if the value is a number; members "low95", "high95", "coverage"
  std::string rule = {};                        ///< how `outcome` follows, for example rule_at_least; may be empty
  /// For a simulated number, how the model relates to the goal: "fit", "held out" and so on.
  std::string standing = {};
};

/// The rules of judge() for an interval. A rule may continue: "... in every cell".
inline constexpr const char* rule_at_least = "value >= goal; missed where high95 < goal";
inline constexpr const char* rule_at_most = "value <= goal; missed where low95 > goal";
/// The rule of a claim that is recorded without a goal. Its goal is 0, and it holds.
inline constexpr const char* no_goal = "printed as it is";

/// Returns the claim with the value, interval, goal, outcome and rule of a measured number.
claim judged(claim one, const interval& measured, double goal, better way = better::higher);
/// The same for a number without an interval.
claim judged(claim one, double value, double goal, better way = better::higher);
/// The same for a measured number without a goal.
claim without_goal(claim one, const interval& measured);

/// "holds", "undecided", "MISSED", or "-" without a goal.
const char* verdict_text(const claim& one) noexcept;

struct document {
  tool_record tool = this_tool();
  std::vector<std::string> command;  ///< the command line, argv[0] first
  json machine = json::object();     ///< made by doctor::machine_object()
  std::uint64_t seed = 0;
  /// UTC, "2025-01-31T12:00:00Z"; empty for simulated runs, because they do not depend on it.
  std::string started;
  bool interrupted = false;  ///< the user stopped the run, so points may have fewer repetitions than requested
  std::vector<point> points;
  std::vector<claim> claims;
  std::string end_hash;        ///< simulated: a hash over the points' hashes
  json more = json::object();  ///< further members of single verbs, described in docs/result-document.md
};

/// Now, in UTC, for document::started.
std::string utc_now();

/// The medians for a table: the two shares, the two waits in us, the CPUs; "-" for those that are missing.
std::string fairness_text(const fairness_record& one);
/// The headings of these columns in the same widths, in one line, and their legend.
inline constexpr const char* fairness_head = "slowest  half  p99.9 us     max us  wait CPUs";
inline constexpr const char* fairness_legend =
    "slowest: operations of the slowest thread to an equal share; half: share of all operations that the busier half "
    "of\n"
    "the threads did (0.5 is fair); p99.9, max: wait in lock(), in runs of their own in which every operation is "
    "timed;\n"
    "wait CPUs: CPU seconds that all threads burn in lock() a second. Medians.\n";

/// A point as the document contains it. Computes median, low and high from the values.
json to_json(const point& one);
json to_json(const site_record& site);
json to_json(const claim& one);
json to_json(const document& all);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
