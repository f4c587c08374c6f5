// SPDX-License-Identifier: Apache-2.0
// What transactions promise beside speed: nobody starves, who waits does not poll, memory stays bounded.
#pragma once

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// D1-4: a reader of 2,000 vars beside eight writers of two, for that long, by dctl and by 2plsf. It reports the most
/// attempts that one of its transactions took, and the bound; and the processor time of a thread that sleeps in
/// retry().
void measure_progress(observe::document& result, unsigned milliseconds);

/// D1-2: threads that insert and remove what blocks allocate, for so many seconds. It reports the process's memory in
/// the second half of the time, as a ratio to the first.
void measure_churn(observe::document& result, unsigned seconds);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
