// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <functional>
#include <vector>

#include "locks/claims.hpp"
#include "locks/measure.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Prints rows of its own under a section's table.
using more_rows = std::function<void(std::FILE* out, std::size_t section)>;

/// For each section a table of subjects by threads. The locks whose waiters sleep, those whose waiters spin, and the
/// rest are ranked apart. Before them how long a cache line took between two CPUs meanwhile.
void print_sections(std::FILE* out, const request& wanted, const measured& all, const more_rows& more = {});
/// The ratio of a subject to the best peer of its class, cell by cell.
void print_ratios(std::FILE* out, const request& wanted, const std::vector<comparison>& compared);
void print_costs_of_bound(std::FILE* out, const request& wanted, const std::vector<bound_cost>& costs);
void print_claims(std::FILE* out, const std::vector<observe::claim>& claims);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
