// SPDX-License-Identifier: Apache-2.0
// What throughput alone does not show. How fast does the owner of a lock compute while others wait for it? How does
// throughput recover when the load rises and falls again? How often does one writer get the lock among readers?
#pragma once

#include <cstdio>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// One scenario with one lock: a point with a metric of its own, and the other values of the table.
struct scenario_result {
  observe::point point;
  std::vector<double> others[2];  ///< by round, as point.values; see print_scenarios()
};

/// Rounds over all locks, interleaved. A run of the rise and fall takes three times `duration_ns`.
std::vector<scenario_result> measure_scenarios(unsigned rounds, std::uint64_t duration_ns);

void print_scenarios(std::FILE* out, const std::vector<scenario_result>& all);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
