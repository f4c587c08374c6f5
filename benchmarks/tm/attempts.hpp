// SPDX-License-Identifier: Apache-2.0
// What blocks have counted while ./dev bench tm measured.
#pragma once

#include <cstdio>
#include <vector>

#include "locks/measure.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Of the workload's blocks, since the start of the process: with a line for every cause of aborts.
observe::attempt_record attempts_so_far();

/// For each section and number of threads: aborts in a thousand commits, blocks that ran alone, and the most frequent
/// cause. Cells that nobody counted, or without aborts, are left out.
void print_attempts(std::FILE* out, const request& wanted, const std::vector<cell>& cells);

/// For each block of auto and of mixed blocks, how many ran in hardware and how many in software.
void print_paths(std::FILE* out, const request& wanted, const std::vector<cell>& cells);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
