// SPDX-License-Identifier: Apache-2.0
// Two cells, or a cell and its peers, over the rounds in which their runs are comparable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "locks/measure.hpp"
#include "observe/statistics.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Whether both were measured and neither has a fault.
bool comparable(const cell* one, const cell* other);

/// A cache line that takes longer from one CPU to the other passes between cores; on some machines, between groups of
/// cores. Measured on an Emerald Rapids: 24 ns within a core, 62 to 84 ns between cores.
inline constexpr double min_far_ns = 40;
/// In a round that counts, the longest of these times to the shortest: far CPUs are not always equally far.
inline constexpr double max_line_spread = 1.5;
/// Windows are compared over at least as many rounds.
inline constexpr std::size_t min_window_rounds = 4;

/// What cells are compared by. Windows of several threads are compared over the rounds in which the CPUs were far apart,
/// before and after the run of each cell. If there are too few, those in which the CPUs were near are compared.
enum class compared_by : std::uint8_t { whole_runs, windows, far_windows, near_windows, too_few_windows };
/// For tables: "whole runs", "windows, CPUs far apart".
const char* to_string(compared_by which) noexcept;

/// The throughput of cells by the rounds over which they are compared: of whole runs unless all of them have windows.
struct compared_rounds {
  compared_by by;
  std::vector<std::vector<double>> throughput;  ///< of each cell
};
/// Requires: all are comparable().
compared_rounds rounds_of(std::span<const cell* const> cells);

/// The ratio of two that are comparable(), by round; none if there are too few windows.
std::vector<double> ratios_of(const cell& one, const cell& other);
/// The median of that ratio, with its interval. Requires: there is a round.
observe::interval ratio_of(const cell& one, const cell& other);

/// The ratio to the best of the peers that are comparable() to ours. Nothing if there is none, or if there are too few
/// rounds to pick one.
std::optional<observe::peer_comparison> compare_to_best(const request& wanted, const cell* ours,
                                                        const std::vector<const cell*>& peers);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
