// SPDX-License-Identifier: Apache-2.0
// What counting attempts costs: an elided section of 10 writes at a site that counts, beside one with counting_off, in
// turns, one thread. Claim A4-1.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Nanoseconds a section, by round.
struct counting_cost {
  std::string machine;  ///< the model, where it was simulated; empty: this machine
  std::vector<double> counted, uncounted;
};

/// Natively where attempts commit, otherwise on models of machines. Nothing where there is neither, which is told on
/// the standard error where a model should be there. `until_decided`: as measure_elision_cost() has it.
std::vector<counting_cost> measure_counting_cost(unsigned rounds, bool until_decided);

void print_counting_cost(std::FILE* out, const std::vector<counting_cost>& costs);
/// Two points for each, and a claim for each.
void add_counting_cost(observe::document& result, const std::vector<counting_cost>& costs, bool with_claims);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
