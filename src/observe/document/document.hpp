// SPDX-License-Identifier: Apache-2.0
// The result document: what every verb of txsync and every benchmark writes with --json FILE. docs/result-document.md
// explains each member, docs/result.schema.json is its schema. It only grows: a member is never renamed or removed and
// never changes its meaning or unit, new ones may come.
//
// A document is a plain record that one thread fills; to_json() makes the JSON, output (output.hpp) writes it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "observe/statistics.hpp"
#include "observe/turns.hpp"

namespace txsync::inline TXSYNC_BACKEND::observe {

/// Keeps the order of insertion, so that documents read as they are described.
using json = nlohmann::ordered_json;

inline constexpr int document_schema = 1;

/// The build that measured. A result without it is none.
struct tool_record {
  std::string version;     ///< "0.1.0"
  std::string commit;      ///< of the checkout that was built, with "-dirty" behind it when it had changes; "unknown"
  std::string compiler;    ///< "GCC 12.2.0"
  std::string build_type;  ///< CMake's: "RelWithDebInfo"
  std::string sanitizers;  ///< "address,undefined"; empty without
};

/// The build of this program.
tool_record this_tool();

/// Who a point is about: ours, a peer, or the numbers that a paper printed.
enum class subject_kind : std::uint8_t { ours, peer, paper };

/// "ours", "peer" or "paper".
constexpr const char* to_string(subject_kind kind) noexcept {
  return kind == subject_kind::ours ? "ours" : kind == subject_kind::peer ? "peer" : "paper";
}

/// How many attempts ended how, all repetitions together.
struct attempt_record {
  std::uint64_t attempts = 0;
  std::uint64_t commits = 0;
  std::uint64_t fallbacks = 0;                                 ///< sections that ran under the real lock instead
  std::vector<std::pair<std::string, std::uint64_t>> aborts;   ///< first cause of each abort; words of abort_cause
  std::vector<std::pair<std::string, std::uint64_t>> signals;  ///< every cause that was signalled
};

/// Attempts of a point that ended for one cause where two places in the code met, or where one place ended them.
struct abort_place {
  std::string cause;
  std::uint64_t count = 0;
  std::string own;    ///< "function (file:line)": the access that brought the line into the attempt
  std::string other;  ///< the access of another thread that met it; empty without
  std::string line;   ///< address of the line, "0x...", of the one with the most where there are several; empty without
  // What is known of the data:
  std::string data = {};    ///< "counters+64", "heap block of 48 bytes from insert (map.cpp:12)+8"; may be empty
  std::uint64_t lines = 0;  ///< how many lines; 0 without a line
  std::uint64_t different_bytes = 0;  ///< of `count`: met at bytes that the attempt is not known to have touched
  std::string sharing = {};           ///< a sentence, where two that share nothing but the line have met
  std::string room = {};              ///< a sentence, where something was full: whose ways of which set
  // "function (file:line)", innermost first, of the first such abort; may be empty:
  std::vector<std::string> own_calls = {};    ///< where the attempt was when it ended
  std::vector<std::string> other_calls = {};  ///< where the thread was that ended it
};

/// Where attempts were as they ended; estimated from some of the aborts.
struct abort_end {
  std::string line;    ///< "function (file:line)" that the attempt had come to
  std::string caller;  ///< "function (file:line)" that had called that function; empty where it is not known
  std::uint64_t count = 0;
  // Of samples of hardware counters; elsewhere empty and 0:
  std::string cause = {};    ///< word of abort_cause
  std::uint64_t cycles = 0;  ///< that those attempts had run
};

/// In units of machine::cycles(), summed over the threads.
struct cycle_record {
  std::uint64_t total = 0;
  std::uint64_t transactional = 0;  ///< in attempts that committed
  std::uint64_t aborted = 0;        ///< in attempts that did not
};

/// Percentiles of a duration in nanoseconds: ("p50", 120), ..., and how many samples they rest on.
struct percentile_record {
  std::uint64_t samples = 0;
  std::vector<std::pair<std::string, double>> values;
};

/// The figures that a percentile of a site carries, since it is the middle of a range that is 25 % wide. 46137343 is
/// 46000000.
double carried_figures(double percentile) noexcept;

/// The percentiles that are written wherever there are some, with the part of the samples that each stands for.
inline constexpr std::pair<const char*, double> written_percentiles[] = {{"p10", 0.1},  {"p25", 0.25},   {"p50", 0.5},
                                                                         {"p75", 0.75}, {"p90", 0.9},    {"p95", 0.95},
                                                                         {"p99", 0.99}, {"p99.9", 0.999}};

/// What became of an atomic block's transactions in software (observe/attempts.hpp); present where it ran some.
struct transaction_record {
  std::uint64_t commits = 0;
  std::uint64_t alone = 0;  ///< of them, those that had to run alone, and irrevocable ones
  std::uint64_t waits = 0;  ///< times that retry() slept
  std::vector<std::pair<std::string, std::uint64_t>> aborts = {};  ///< by cause; words of abort_cause
};

/// What a site's waiters ran ahead of time (observe/attempts.hpp); present where they ran something.
struct warm_record {
  std::uint64_t runs = 0;
  std::uint64_t attempts = 0;                                      ///< of them, always-abort attempts
  std::uint64_t ns = 0;                                            ///< the time of all of them
  std::vector<std::pair<std::string, std::uint64_t>> aborts = {};  ///< first cause of each attempt's end
};

/// What became of a site's attempts, in hardware (observe/attempts.hpp); present where it made some.
struct speculation_record {
  std::uint64_t attempts = 0;   ///< exact, as the next two and the causes
  std::uint64_t commits = 0;    ///< an attempt may run several critical sections
  std::uint64_t failed = 0;     ///< critical sections that took the lock after their attempts had aborted
  std::uint64_t elided = 0;     ///< critical sections that ran in attempts; estimated from samples
  std::uint64_t fallbacks = 0;  ///< critical sections that took the lock, after attempts or without; estimated
  std::vector<std::pair<std::string, std::uint64_t>> aborts = {};  ///< first cause of each abort; words of abort_cause
  std::uint64_t lost_ns = 0;       ///< time in attempts that aborted; estimated from timed sections
  double lost_error_ns = 0;        ///< its standard error
  std::uint64_t lost_samples = 0;  ///< timed sections of which an attempt aborted
};

/// A lock site over one point, all repetitions and threads together.
struct site_record {
  std::string name;
  std::uint64_t acquisitions = 0;
  std::uint64_t contended = 0;  ///< acquisitions that had to wait
  std::uint64_t wait_ns = 0;    ///< time between asking and getting, over the contended ones
  std::uint64_t hold_ns = 0;    ///< time between getting and giving up
  std::uint64_t condition_waits = 0;
  std::uint64_t condition_wait_ns = 0;
  percentile_record wait;  ///< of the contended acquisitions
  percentile_record hold;  ///< of the sampled acquisitions
  // Of programs under `txsync run`; empty elsewhere:
  std::string kind = {};    ///< of pthread's locks "mutex", "rwlock", "spinlock", "barrier"; "named": a txsync::site
  std::string where = {};   ///< "FILE:LINE", the file as the compiler had it; empty without debug information
  std::string module = {};  ///< the program or library that the code is from
  std::vector<std::string> programs = {};    ///< whose locks they are: file names of executables, sorted
  std::optional<slow_thread> slowest = {};   ///< of its threads (observe/turns.hpp)
  std::vector<thread_turns> by_thread = {};  ///< not in documents
  std::uint32_t heeded = 0;                  ///< named: policy_parts that its locks heed; not in documents
  // Of all:
  std::uint64_t max_wait_ns = 0;         ///< the longest single wait, also of those that ended without the lock
  std::uint64_t failed_waits = 0;        ///< those that ended without the lock: at a deadline, or not before the end
  std::uint64_t failed_wait_ns = 0;      ///< the time of those
  std::uint32_t unfinished_waits = 0;    ///< threads that still waited at the end
  std::uint64_t unfinished_wait_ns = 0;  ///< the time of those, which failed_wait_ns has, too
  std::optional<speculation_record> speculation = {};
  std::optional<transaction_record> transactions = {};
  std::optional<warm_record> warm_ups = {};

  /// The site is an atomic block's: it has no lock.
  bool is_block() const {
    return acquisitions == 0 && condition_waits == 0 && all_wait_ns() == 0 && (speculation || transactions);
  }

  /// Of threads that waited, whether they got the lock or not.
  std::uint64_t all_wait_ns() const { return wait_ns + failed_wait_ns; }
};

/// How evenly the threads of a point had their turns, and how they waited for locks. Each list by repetition, in their
/// order; empty where it was not measured.
struct fairness_record {
  std::vector<double> slowest_share;      ///< see observe::slowest_share()
  std::vector<double> busier_half_share;  ///< see observe::busier_half_share()
  // Of runs of their own, in which every operation is timed:
  std::vector<double> p999_wait_ns;  ///< 99.9 % of the waits in lock() are at most so long
  std::vector<double> max_wait_ns;
  std::vector<double> wait_cpus;  ///< CPU time that all threads used in lock(), in seconds a second
};

/// One cell of a measurement: one subject on one workload with one set of parameters and threads.
struct point {
  std::string workload;
  json params = json::object();  ///< every parameter by name, the fallbacks too; a number or a word
  std::string preset;            ///< empty without
  unsigned threads = 1;
  std::string place;    ///< "cores-first", "smt-first", "socket=0", "none"
  std::string subject;  ///< "txsync::mutex"
  subject_kind kind = subject_kind::ours;
  std::string waiting;      ///< how the subject waits: "spins", "parks"; empty where that means nothing
  bool speculates = false;  ///< simulated: it may run sections as hardware transactions, whether it did or not
  std::string metric;       ///< "throughput"
  std::string unit;         ///< "sections/s"
  better way = better::higher;
  std::vector<double> values;  ///< one a repetition, in the order of the rounds; a failed repetition has none

  std::vector<std::uint64_t> fewest;  ///< operations of the thread with the fewest, by repetition; may be empty
  std::vector<std::uint64_t> most;    ///< and of the one with the most
  fairness_record fairness;
  std::vector<std::string> faults;  ///< repetitions that failed their own check, one sentence each
  unsigned unpinned = 0;            ///< threads that the system refused to pin, greatest of all repetitions

  std::optional<attempt_record> attempts;
  std::optional<cycle_record> cycles;
  std::vector<abort_place> abort_places;   ///< most frequent first; of the first repetition
  std::vector<abort_end> abort_ends = {};  ///< likewise
  /// By kind of operation, "op" where there is only one.
  std::vector<std::pair<std::string, percentile_record>> latency;
  std::vector<std::pair<double, double>> series;  ///< (seconds since the start, operations until then)
  std::vector<site_record> sites;
  std::string end_hash;  ///< simulated: of the machine's whole history
  std::string key;       ///< what repeats it: a command, or what `txsync replay` takes
};

/// The answer to a numbered line of an issue.
struct claim {
  std::string id = {};                          ///< "A1-3"
  std::string words = {};                       ///< what is claimed; member "claim"
  json value = {};                              ///< what came out: a number, a truth value or a word
  json goal = {};                               ///< what was asked for, of the same type
  observe::outcome outcome = outcome::missed;   ///< members "outcome" and "holds"; judge() makes it
  std::vector<std::size_t> from = {};           ///< indices into document::points that it was computed from
  std::optional<interval> value_interval = {};  ///< of a number; members "low95", "high95", "coverage"
  std::string rule = {};                        ///< how `outcome` follows, for example rule_at_least; may be empty
  std::string standing = {};  ///< of a simulated number, what the model has to do with the goal: "fit", "held out"...
};

/// The rules of judge() over an interval. A rule may go on: "... in every cell".
inline constexpr const char* rule_at_least = "value >= goal; missed where high95 < goal";
inline constexpr const char* rule_at_most = "value <= goal; missed where low95 > goal";
/// The rule of a claim that is recorded without a goal; its goal is 0 and it holds.
inline constexpr const char* no_goal = "printed as it is";

/// The claim with the value, interval, goal, outcome and rule of a measured number.
claim judged(claim one, const interval& measured, double goal, better way = better::higher);
/// The same of a number that has no interval.
claim judged(claim one, double value, double goal, better way = better::higher);
/// A measured number without a goal.
claim without_goal(claim one, const interval& measured);

/// "holds", "undecided", "MISSED", or "-" without a goal.
const char* verdict_text(const claim& one) noexcept;

struct document {
  tool_record tool = this_tool();
  std::vector<std::string> command;  ///< as it was called, argv[0] first
  json machine = json::object();     ///< made by doctor::machine_object()
  std::uint64_t seed = 0;
  std::string started;       ///< UTC, "2025-01-31T12:00:00Z"; empty for simulated runs, which do not depend on it
  bool interrupted = false;  ///< the user stopped it: points may have fewer repetitions than asked for
  std::vector<point> points;
  std::vector<claim> claims;
  std::string end_hash;        ///< over the points' hashes (simulated)
  json more = json::object();  ///< further members of single verbs, as docs/result-document.md has them
};

/// Now, in UTC, for document::started.
std::string utc_now();

/// The medians, in words for a table: the two shares, the two waits in us, the CPUs; "-" where there are none.
std::string fairness_text(const fairness_record& one);
/// The heads of these columns, in the same widths, and a legend: one line each.
inline constexpr const char* fairness_head = "slowest  half  p99.9 us     max us  wait CPUs";
inline constexpr const char* fairness_legend =
    "slowest: operations of the slowest thread to an equal share; half: share of all operations that the busier half "
    "of\n"
    "the threads did (0.5 is fair); p99.9, max: wait in lock(), in runs of their own in which every operation is "
    "timed;\n"
    "wait CPUs: CPU seconds that all threads burn in lock() a second. Medians.\n";

/// A point as the document has it. Computes median, low and high from the values.
json to_json(const point& one);
json to_json(const site_record& site);
json to_json(const claim& one);
json to_json(const document& all);

}  // namespace txsync::inline TXSYNC_BACKEND::observe
