// SPDX-License-Identifier: Apache-2.0
// The numbered lines that ./dev bench warmup answers.
#pragma once

#include <vector>

#include "locks/measure.hpp"
#include "observe/document/document.hpp"

namespace txsync::inline TXSYNC_BACKEND::benchmarks {

inline constexpr double goal_found = 1.3;  ///< C2-1: sections whose addresses are found by running, 2 threads
inline constexpr double goal_least = 0.9;  ///< C2-1: no cell under it
inline constexpr double goal_array = 1.4;  ///< C2-2: ticket on arrays, 2 threads
inline constexpr const char* ahead_mark = "+ahead";

/// C2-1 and C2-2, as far as the cells hold what they need.
std::vector<observe::claim> make_warmup_claims(const request& wanted, const std::vector<cell>& cells);

}  // namespace txsync::inline TXSYNC_BACKEND::benchmarks
