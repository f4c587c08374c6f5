// SPDX-License-Identifier: Apache-2.0
// The numbered lines that ./dev bench warmup answers.
#pragma once

#include <cstdio>
#include <vector>

#include "locks/claims.hpp"
#include "locks/measure.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

inline constexpr double goal_found = 1.3;  ///< C2-1: sections whose addresses are found by running, 2 threads
inline constexpr double goal_least = 0.9;  ///< C2-1, C2-2: no cell under it
inline constexpr double goal_array = 1.4;  ///< C2-2: ticket on arrays, 2 threads
inline constexpr const char* ahead_mark = "+ahead";

/// Whether the section's addresses are known before its lock is taken.
bool is_array(const request& wanted, std::size_t place);

/// C2-1 and C2-2, as far as the cells hold what they need.
std::vector<observe::claim> make_warmup_claims(const request& wanted, const std::vector<cell>& cells);

/// warm_ticket to the best of all peers, those with the prefetch before lock() among them, in every cell of an array.
std::vector<comparison> compare_on_arrays(const request& wanted, const std::vector<cell>& cells);
/// These as rows under the table of a section.
void print_on_array(std::FILE* out, const request& wanted, const std::vector<comparison>& compared, std::size_t place);
/// And as claims that ask for nothing: C2-2 wants them written down, whatever they are.
void add_on_arrays(const request& wanted, const std::vector<comparison>& compared, std::vector<observe::claim>& claims);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
