// SPDX-License-Identifier: Apache-2.0
// What `./dev bench locks` measures: every subject on every cell (a section and a number of threads), once a round. The
// subjects of a cell run one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/site_watch.hpp"
#include "observe/document/document.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// A kind of critical section: a workload with parameters.
struct section {
  std::string name;  ///< in tables
  const workloads::workload* workload;
  workloads::parameters values;
  std::vector<std::string> only = {};  ///< the subjects that run it, by name; empty: all that can
};

section preset_section(const char* name, const char* workload, const char* preset);

/// The sections by their names in the table: empty, small, large-low, large-high, mapbench.
std::vector<section> lock_sections();

struct request {
  std::vector<section> sections;
  std::vector<unsigned> threads{1, 2, 4, 8};
  std::vector<workloads::subject> subjects;
  unsigned rounds = 12;  ///< cells of undecided claims get more, see measure_until_decided()
  std::uint64_t duration_ns = 50'000'000;
  std::uint64_t seed = 1;
  bool keeps_data = false;        ///< see workloads::plan
  bool times_waits = false;       ///< with a run of its own for each, see workloads::run_for_waits()
  bool times_operations = false;  ///< each one, in a run of its own, a quarter as long: cell::latency
  /// Cells with no more threads than CPUs are compared by undisturbed windows: cell::undisturbed.
  bool watches_windows = false;
  /// What this process's attempts have come to, every cause of aborts in its place; null: nobody counts them. Asked
  /// before and after a run of an algorithm of atomic blocks, the filling and the run-in included.
  observe::attempt_record (*attempts_so_far)() = nullptr;
};

/// All rounds of one subject in one cell. Without faults the i-th value is of the i-th round, in every cell.
struct cell {
  std::size_t section;
  unsigned threads;
  std::size_t subject;
  std::vector<double> throughput = {};  ///< sections a second, by round
  std::vector<std::uint64_t> fewest = {}, most = {};
  observe::fairness_record fairness = {};
  std::vector<std::string> faults = {};
  std::optional<observe::attempt_record> attempts = {};
  measure::site_watch sites = {};  ///< of algorithms of atomic blocks, where attempts are asked for
  observe::undisturbed_record undisturbed = {};
  workloads::latency_histogram latency = {};
};

struct measured {
  std::vector<cell> cells = {};
  std::vector<double> line_transfer_ns = {};  ///< by round, before its first cell (line_transfer.hpp)
};

/// Runs it all; says on stderr how far it is. Stops early, with whole rounds only, after an interrupt.
measured measure(const request& wanted);

/// The claims that the cells allow; `from` counts cells.
using claim_maker = std::function<std::vector<observe::claim>(const std::vector<cell>& cells)>;

/// measure(), and then more rounds of the cells of undecided claims (observe::more_rounds).
measured measure_until_decided(const request& wanted, const claim_maker& claims_of);

/// From now on the first SIGINT or SIGTERM makes interrupted() true, so that what was measured is still written; the
/// second one ends the program. Called once, before anything is measured.
void stop_when_interrupted() noexcept;
bool interrupted() noexcept;

/// Adds the cells' points to the result document, and after them one for the line transfers. Reports faults of locks on
/// standard error, after `name`. False if there are any, or the run was interrupted.
bool add_points(observe::document& result, const request& wanted, const measured& all, const char* name);

/// The cell of that section, number of threads and subject, or null.
const cell* find_cell(const std::vector<cell>& cells, std::size_t section, unsigned threads, std::size_t subject);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
