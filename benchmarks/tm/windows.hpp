// SPDX-License-Identifier: Apache-2.0
// What stands beside the throughput of whole runs in ./dev bench tm.
#pragma once

#include <cstdio>
#include <vector>

#include "locks/measure.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// The legend of the tables below.
void print_windows_legend(std::FILE* out, const request& wanted);

/// A line for each subject and number of threads of a section. It has the throughput over undisturbed windows, their
/// share of the runs and the time of a cache line. Then come p99.9 of a block and the slowest thread.
void print_windows(std::FILE* out, const request& wanted, const std::vector<cell>& cells, std::size_t section);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
