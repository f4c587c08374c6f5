// SPDX-License-Identifier: Apache-2.0
// What threads cost each other that share nothing: lists of their own, counters of their own, and sleepers that wait for
// something else.
#pragma once

#include <cstdio>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// D2-1, with runs of so many milliseconds each. Beside the throughput it prints the slowest
/// thread, the longest blocks and the CPU time. It reports
///  - two threads on lists of their own, whose nodes blocks make: aborts for each 1,000 blocks, and throughput;
///  - two threads on counters 128 bytes apart, to counters on pages of their own;
///  - one thread that writes beside 1, 16 and 128 sleepers on other data, to the same without.
void measure_separate(std::FILE* out, observe::document& result, unsigned milliseconds);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
