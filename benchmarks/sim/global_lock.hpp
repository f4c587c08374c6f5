// SPDX-License-Identifier: Apache-2.0
// What eliding one global lock does on a machine that is not there: claims B-1.
#pragma once

#include <cstdio>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Runs `txsync sim mapbench --machine broadwell-e5-2697v4 --threads 1,2,4,8,16,18 --lock
/// tatas,mcs,elided_tatas,lemming_tatas find=98 insert=1 erase=1` three times, and elided_tatas alone with other shares
/// of updates. Points and claims go into the document, the claims to `out` as well. A minute.
void measure_global_lock(observe::document& into, std::FILE* out);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
