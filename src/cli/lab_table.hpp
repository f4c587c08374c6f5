// SPDX-License-Identifier: Apache-2.0
// What `txsync lab` prints of its experiments.
#pragma once

#include <cstdio>
#include <vector>

#include "simulate/lab.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

void print_experiment(std::FILE* out, const simulate::lab_result& one);
/// How many numbers were hit, and which were not.
void print_summary(std::FILE* out, const std::vector<simulate::lab_result>& all);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
