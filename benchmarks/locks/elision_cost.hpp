// SPDX-License-Identifier: Apache-2.0
// What elision costs where it has nothing to give: each elided lock beside the plain one, in turns, one thread.
#pragma once

#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// One lock and section: nanoseconds a section, by round.
struct elision_cost {
  std::string lock;
  std::string section;
  std::vector<double> plain, elided;
};

/// Sections are empty, or write 10 words. The first 1,000 of each lock are not measured: it may learn.
/// `until_decided`: more rounds while the claim is undecided, in all at most observe::max_round_factor times as many.
std::vector<elision_cost> measure_elision_cost(unsigned rounds, std::uint64_t duration_ns, bool until_decided);

void print_elision_cost(std::FILE* out, const std::vector<elision_cost>& costs);
/// Two points for each, and the claim C1-1.
void add_elision_cost(observe::document& result, const std::vector<elision_cost>& costs, bool with_claims);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
