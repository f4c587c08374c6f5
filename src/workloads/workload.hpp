// SPDX-License-Identifier: Apache-2.0
// The built-in workloads as plain records: what can be run (workload), on which lock (subject), how (parameters, plan)
// and what came out (outcome). docs/workloads/ has a page for each.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <txsync/machine/thread.hpp>

#include "workloads/histogram.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

/// How to run a workload once. Repetitions are the caller's business.
struct plan {
  unsigned threads = 1;  ///< 1..most_threads
  machine::placement place = machine::placement::cores_first;
  unsigned socket = 0;                      ///< for machine::placement::socket
  std::uint64_t duration_ns = 100'000'000;  ///< the measured phase by time...
  std::uint64_t operations = 0;             ///< ...or, when not 0, that many operations a thread
  std::uint64_t run_in_ns = 0;              ///< run before measuring; by time only
  std::uint64_t seed = 1;                   ///< the same seed draws the same operations in each thread
  /// Large data is left for the next run of the same workload, parameters and threads, which goes on from there: for
  /// benchmarks, which would mostly wait for it to be made. Ends of runs then no longer repeat themselves, and have no
  /// hash.
  bool keeps_data = false;
  std::uint64_t sample_every = 0;  ///< latency of each n-th operation of a thread; 0: none; 1: waits too
  /// Room for as many numbers as threads: the operations of each in the measured phase; null: not wanted.
  std::uint64_t* operations_by_thread = nullptr;
};

inline constexpr unsigned most_threads = 4096;

/// What one run gave. Every run ends with a check of its result; an outcome with a fault is not a measurement.
struct outcome {
  std::uint64_t operations = 0;  ///< in the measured phase, all threads together
  std::uint64_t elapsed_ns = 0;  ///< length of the measured phase
  std::uint64_t cycles = 0;      ///< the same in units of machine::cycles()
  std::uint64_t fewest = 0;      ///< operations of the thread with the fewest
  std::uint64_t most = 0;        ///< and with the most
  unsigned unpinned = 0;         ///< threads that the system refused to pin where the plan asked for it
  std::uint64_t end_hash =
      0;  ///< of the data at the end: repeats itself with one thread, a seed and a number of operations
  const char* fault = nullptr;  ///< null: the check passed; else what was wrong, one sentence
  latency_histogram latency;    ///< from before lock() to after unlock(); empty when plan.sample_every is 0
  /// From before lock() to after it, of all operations that end in the measured phase or after it; empty unless
  /// plan.sample_every is 1, and if the workload does not call worker::entered() when it has its lock.
  latency_histogram waits;
  std::uint64_t max_wait_ns = 0;
  std::uint64_t wait_cpu_ns = 0;  ///< CPU time that all threads used in lock(); see wait_clock
};

/// Requires: elapsed_ns is not 0.
inline double operations_per_second(const outcome& seen) noexcept {
  return static_cast<double>(seen.operations) * 1e9 / static_cast<double>(seen.elapsed_ns);
}

/// One parameter of a workload: an unsigned number, or one of several names (then the number is the index of the name).
struct parameter {
  const char* key;
  std::uint64_t fallback;  ///< the value when none is given
  std::uint64_t least;
  std::uint64_t greatest;
  const char* words;                        ///< what it means, with its unit
  std::span<const char* const> names = {};  ///< not empty: these are the values, in order
  bool is_file = false;                     ///< the value stands for a file (matrix_market.hpp); 0: none
};

inline constexpr unsigned most_parameters = 8;
/// The values of a workload's parameters, in the order of workload::keys.
struct parameters {
  std::uint64_t values[most_parameters] = {};
  constexpr std::uint64_t operator[](unsigned index) const noexcept { return values[index]; }
  constexpr bool operator==(const parameters&) const noexcept = default;
};

struct setting {
  const char* key;
  std::uint64_t value;
};

/// Values under a name, with their source.
struct preset {
  const char* name;
  const char* source;                       ///< for example "always-abort paper, Fig 7a"; "txsync" for our own
  std::span<const setting> settings;        ///< parameters not named keep their fallback
  unsigned threads = 0;                     ///< the source's own plan, for information; 0: not said, or varied
  std::uint64_t operations_per_thread = 0;  ///< likewise
};

struct workload {
  const char* name;
  const char* summary;    ///< one line
  const char* operation;  ///< what outcome::operations counts, for example "sections"
  std::span<const parameter> keys;
  std::span<const preset> presets;
  /// Null, or says in one sentence what is wrong between values that are each in range; null when all is well.
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

/// How threads wait for a lock: its class when locks are ranked.
enum class waiting : std::uint8_t { spins, parks, none };

/// What is measured: a lock, a barrier or an algorithm of atomic blocks, and for each workload the function that runs
/// it on that.
struct subject {
  using runner = outcome (*)(const parameters& values, const plan& how);

  const char* name;   ///< as printed: "txsync::mutex", "tatas", "pthread_mutex"
  bool peer = false;  ///< not ours
  waiting how = waiting::parks;
  bool exclusive = true;        ///< false: "none", which loses updates; its results are not checked
  bool speculates = false;      ///< runs sections as hardware attempts; asked for by name where there may be none
  bool simulated_only = false;  ///< as papers measured it, not for use: refused on native machines, and listed as such
  bool is_barrier = false;      ///< not a lock: there is little that runs on it
  bool is_algorithm = false;    ///< of atomic blocks: runs `transactions` only
  bool has_shared = false;      ///< read sections run beside each other; without, `readers` locks exclusively
  const char* summary;          ///< one line
  /// By workload_id. Null where the workload cannot run on the subject ("none" on mapbench, locks on trisolve, most
  /// locks on transactions).
  runner run[workload_count] = {};

  constexpr runner runner_of(workload_id which) const noexcept { return run[static_cast<unsigned>(which)]; }
};

/// All workloads, in the order of workload_id.
std::span<const workload> workloads() noexcept;
/// Our locks, barriers and algorithms of atomic blocks, "none", and on native machines pthread's and the standard
/// library's.
std::span<const subject> subjects() noexcept;

/// Null when there is none of that name.
const workload* find_workload(std::string_view name) noexcept;
const subject* find_subject(std::string_view name) noexcept;
const preset* find_preset(const workload& which, std::string_view name) noexcept;
/// The position of a workload of workloads().
workload_id id_of(const workload& which) noexcept;

/// Every parameter at its fallback.
parameters default_parameters(const workload& which) noexcept;
/// The fallbacks with the preset's values over them.
parameters preset_parameters(const workload& which, const preset& chosen) noexcept;
/// The index of the parameter of that key, or -1.
int find_parameter(const workload& which, std::string_view key) noexcept;
/// Null when every value is in range and none contradicts another, else one sentence.
const char* complaint(const workload& which, const parameters& values) noexcept;
/// The same of values and plan. Every runner asks this first and answers with a fault.
const char* complaint(const workload& which, const parameters& values, const plan& how) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
