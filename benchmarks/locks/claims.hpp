// SPDX-License-Identifier: Apache-2.0
// The numbered lines that this benchmark answers.
#pragma once

#include <string>
#include <vector>

#include "locks/measure.hpp"
#include "observe/document/document.hpp"
#include "observe/statistics.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

inline constexpr double lowest_ratio = 0.95;  ///< of a cell to the best peer of its class
inline constexpr double goal_mean = 1.05;     ///< of all cells
inline constexpr double goal_kept = 0.6;      ///< of the 2-thread figure at 4 and 8 threads
inline constexpr double goal_counting_small = 0.05;
inline constexpr double goal_counting_empty = 0.15;

inline constexpr double min_uncontended_ratio = 0.97;  ///< of a section without contention

struct comparison {
  std::string subject;
  std::size_t section;
  unsigned threads;
  std::string peer;
  observe::peer_comparison result;
  std::vector<std::size_t> from;  ///< cells: ours first, then the peers
};

/// txsync::mutex, spin and tatas against the best peer of their waiting class, in every cell that has both.
std::vector<comparison> compare_with_peers(const request& wanted, const std::vector<cell>& cells);

/// The cost of the bound of waits: the ratio of futex's throughput to that of the same mutex without the bound, for
/// each cell.
struct bound_cost {
  std::size_t section;
  unsigned threads;
  observe::interval ratio;
};
std::vector<bound_cost> costs_of_bound(const request& wanted, const std::vector<cell>& cells);

/// A1-3, A1-4, A1-5 and A3-4, as far as the cells hold what they need. `from` counts cells.
std::vector<observe::claim> make_claims(const request& wanted, const std::vector<cell>& cells,
                                        const std::vector<comparison>& compared);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
