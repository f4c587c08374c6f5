// SPDX-License-Identifier: Apache-2.0
// How long waiters wait, how many critical sections pass them by, and how fast threads hand over (claims A3-2 and
// A3-3). Each run is a process of its own (bench_lock_waits). Runs of the locks are interleaved.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

struct waiting_request {
  std::vector<unsigned> threads{2, 4, 8};  ///< that ask for one lock
  std::vector<unsigned> crowds{64, 512};   ///< that join two others for a while
  unsigned rounds = 20;                    ///< for the longest waits and for pairs; the others have three tenths
  std::uint64_t milliseconds = 50;         ///< of a pair; other runs take a multiple
  std::uint64_t seed = 1;
  bool until_decided = false;  ///< more rounds of the cells that leave a claim undecided
};

/// A lock, and the process in which it is measured.
struct waiting_lock {
  const char* name;
  const char* argument;                                  ///< of bench_lock_waits
  bool preloaded;                                        ///< the C library's, replaced by the preloaded library
  std::uint64_t (*bypass_bound)(std::uint64_t threads);  ///< null where there is none
  std::uint64_t (*max_wait_ns)(std::uint64_t threads, std::uint64_t section_ns);  ///< null where none is stated
};

/// All locks; the last is the reference, the C library's mutex.
const std::vector<waiting_lock>& waiting_locks();
std::size_t reference_lock();

/// What a process printed, by name.
using figures = std::map<std::string, std::vector<double>>;

/// One scenario with one lock: one run a round.
struct waiting_cell {
  std::string scenario;  ///< "ask", "loop", "wave", "pair-before", "pair-behind", "realtime"
  std::size_t lock = 0;
  unsigned threads = 2;
  unsigned section_us = 0;
  unsigned cpus = 0;            ///< that the process may use; 0: all
  std::vector<figures> rounds;  ///< two cells share the rounds of the one that has fewer

  /// The first value of that name, by round.
  std::vector<double> all(const char* name) const;
};

/// Runs all scenarios; reports progress on stderr. Throws std::runtime_error where a process fails. With
/// `until_decided` the cells of undecided claims run up to observe::max_round_factor times their rounds.
std::vector<waiting_cell> measure_waiting(const waiting_request& wanted);

/// The cell of the same scenario with the reference; null where there is none.
const waiting_cell* reference_of(const std::vector<waiting_cell>& cells, const waiting_cell& one);

/// "ask, 4 threads, 20 us"
std::string describe(const waiting_cell& one);

void print_waiting(std::FILE* out, const std::vector<waiting_cell>& cells);

/// The points, and the claims unless the run was a quick one.
void add_waiting(observe::document& result, const std::vector<waiting_cell>& cells, bool with_claims);

/// A3-2 or A3-3. `from` of the claim counts cells.
struct waiting_claim {
  observe::claim claim;
  std::vector<std::size_t> undecided;  ///< cells of which more rounds may decide it; none where it is decided
};

/// A3-2 and A3-3, as far as the cells hold what they need.
std::vector<waiting_claim> waiting_claims(const std::vector<waiting_cell>& cells);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
