// SPDX-License-Identifier: Apache-2.0
// D2-2 for mixed blocks on machines whose hardware transactions commit: two simulated Haswells.
#pragma once

#include <cstdio>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Simulates so many milliseconds of each of mixed_sections() with 2 and 4 threads, by several seeds. It prints the
/// throughput, and how many blocks committed in hardware. It adds points, and a claim for each machine and number of
/// threads. Says so if this build has no simulated machine.
void simulate_mixed(std::FILE* out, observe::document& result, unsigned milliseconds);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
