// SPDX-License-Identifier: Apache-2.0
// The built-in workloads as plain records: what can be run (workload), on which lock (subject), how (parameters, plan),
// and the result (outcome). docs/workloads/ has a page for each.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/thread.hpp>

#include "workloads/harness/histogram.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

struct stamp_log;

/// How to run a workload once. The caller does repetitions.
struct plan {
  unsigned threads = 1;  ///< 1..max_threads
  machine::placement placement = machine::placement::cores_first;
  unsigned socket = 0;                      ///< for machine::placement::socket
  std::uint64_t duration_ns = 100'000'000;  ///< the length of the measured phase...
  std::uint64_t operations = 0;             ///< ...or, if not 0, this many operations per thread
  std::uint64_t run_in_ns = 0;              ///< run-in before the measured phase; only with a duration
  std::uint64_t seed = 1;                   ///< the same seed gives the same operations in each thread
  /// Leaves large data for the next run of the same workload, parameters and threads, which continues with it.
  /// Benchmarks use it, because they would spend most of their time making the data. The final data of such runs is not
  /// reproducible, so they have no hash.
  bool keeps_data = false;
  std::uint64_t sample_every = 0;  ///< times each n-th operation of a thread; 0: none; 1: waits too
  /// Room for one number per thread: its operations in the measured phase. Null: not wanted.
  std::uint64_t* operations_by_thread = nullptr;
  /// A log for each thread, for stamps of the measured phase (stamps.hpp). Null: not wanted. Requires: sample_every is 0.
  stamp_log* stamps_by_thread = nullptr;
};

inline constexpr unsigned max_threads = 4096;

/// The result of one run. Every run ends with a check; an outcome with a fault is not a measurement.
struct outcome {
  std::uint64_t operations = 0;  ///< in the measured phase, all threads together
  std::uint64_t elapsed_ns = 0;  ///< length of the measured phase
  std::uint64_t cycles = 0;      ///< the same in units of machine::cycles()
  std::uint64_t fewest = 0;      ///< operations of the thread with the fewest
  std::uint64_t most = 0;        ///< operations of the thread with the most
  unsigned unpinned = 0;         ///< threads that the system refused to pin as the plan asked
  /// Of the data at the end. It is reproducible with one thread, a seed and a number of operations.
  std::uint64_t end_hash = 0;
  const char* fault = nullptr;  ///< null: the check passed; otherwise what was wrong, one sentence
  latency_histogram latency;    ///< from before lock() to after unlock(); empty if plan.sample_every is 0
  /// From before lock() to after it, of all operations that end in the measured phase or after it. Empty unless
  /// plan.sample_every is 1 and the workload calls worker::entered() when it has its lock.
  latency_histogram waits;
  std::uint64_t max_wait_ns = 0;
  std::uint64_t wait_cpu_ns = 0;  ///< CPU time that all threads used in lock(); see wait_clock
};

/// Requires: elapsed_ns is not 0.
inline double operations_per_second(const outcome& seen) noexcept {
  TXSYNC_ASSERT(seen.elapsed_ns != 0, "the measurement took some time");
  return static_cast<double>(seen.operations) * 1e9 / static_cast<double>(seen.elapsed_ns);
}

/// One parameter of a workload: an unsigned number, or one of several names (then the number is the name's index).
struct parameter {
  const char* key;
  std::uint64_t fallback;  ///< the default value
  std::uint64_t least;
  std::uint64_t greatest;
  const char* words;                        ///< what it means, with its unit
  std::span<const char* const> names = {};  ///< if not empty, these are the values, in order
  bool is_file = false;                     ///< the value means a file (matrix_market.hpp); 0: none
};

inline constexpr unsigned max_parameters = 8;
/// The values of a workload's parameters, in the order of workload::keys.
struct parameters {
  std::uint64_t values[max_parameters] = {};
  constexpr std::uint64_t operator[](unsigned index) const noexcept { return values[index]; }
  constexpr bool operator==(const parameters&) const noexcept = default;
};

struct setting {
  const char* key;
  std::uint64_t value;
};

/// Values with a name and their source.
struct preset {
  const char* name;
  const char* source;                       ///< for example "always-abort paper, Fig 7a"; "txsync" for our own
  std::span<const setting> settings;        ///< other parameters keep their default
  unsigned threads = 0;                     ///< the source's own plan, for information; 0: unknown, or varied
  std::uint64_t operations_per_thread = 0;  ///< likewise
};

struct workload {
  const char* name;
  const char* summary;    ///< one line
  const char* operation;  ///< what outcome::operations counts, for example "sections"
  std::span<const parameter> keys;
  std::span<const preset> presets;
  /// Null, or a function that says in one sentence how values contradict each other. Its result is null if they do not.
  const char* (*contradiction)(const parameters& values) = nullptr;
};

/// The workloads by position in workloads() and in subject::run.
enum class workload_id : std::uint8_t {
  arraybench,
  mapbench,
  counters,
  counter_array,
  lock_overhead,
  readers,
  capacity,
  lock_array,
  bank,
  list,
  hashmap,
  cache,
  trisolve,
  tree,
  transactions
};
inline constexpr unsigned workload_count = 15;

/// How threads wait for a lock. Locks are ranked within such a class.
enum class waiting : std::uint8_t { spins, parks, none };

/// What is measured: a lock, a barrier or an algorithm of atomic blocks. For each workload it has the function that
/// runs the workload on it.
struct subject {
  using runner = outcome (*)(const parameters& values, const plan& how);

  const char* name;   ///< as printed: "txsync::mutex", "tatas", "pthread_mutex"
  bool peer = false;  ///< not ours
  waiting how = waiting::parks;
  bool exclusive = true;        ///< false: "none", which loses updates; its results are not checked
  bool speculates = false;      ///< runs sections as hardware attempts; runs only by name if there may be none
  bool simulated_only = false;  ///< as in papers, not for use: refused on native machines, and listed as such
  bool is_barrier = false;      ///< not a lock: few workloads run on it
  bool is_algorithm = false;    ///< of atomic blocks: runs only `transactions`
  bool has_shared = false;      ///< read sections run beside each other; without it, `readers` locks exclusively
  const char* summary;          ///< one line
  /// By workload_id. Null if the workload cannot run on the subject ("none" on mapbench, locks on trisolve, most locks
  /// on transactions).
  runner run[workload_count] = {};

  constexpr runner runner_of(workload_id which) const noexcept { return run[static_cast<unsigned>(which)]; }
};

/// All workloads, in the order of workload_id.
std::span<const workload> workloads() noexcept;
/// Our locks, barriers and algorithms of atomic blocks, and "none". On native machines also pthread's and the standard
/// library's.
std::span<const subject> subjects() noexcept;

/// Null if there is none with that name.
const workload* find_workload(std::string_view name) noexcept;
const subject* find_subject(std::string_view name) noexcept;
const preset* find_preset(const workload& which, std::string_view name) noexcept;
/// The position of a workload in workloads().
workload_id id_of(const workload& which) noexcept;

/// Every parameter with its default.
parameters default_parameters(const workload& which) noexcept;
/// The defaults, with the preset's values in their place.
parameters preset_parameters(const workload& which, const preset& chosen) noexcept;
/// The index of the parameter with that key, or -1.
int find_parameter(const workload& which, std::string_view key) noexcept;
/// Null if every value is in range and none contradicts another; otherwise one sentence.
const char* complaint(const workload& which, const parameters& values) noexcept;
/// The same for values and plan. Every runner calls this first and returns the fault.
const char* complaint(const workload& which, const parameters& values, const plan& how) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
