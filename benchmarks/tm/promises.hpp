// SPDX-License-Identifier: Apache-2.0
// What transactions promise beside speed: nobody starves, who waits does not poll, memory stays bounded.
#pragma once

#include "observe/document/document.hpp"

namespace txsync::inline TXSYNC_BACKEND::benchmarks {

/// D1-4: a reader of 2,000 vars beside eight writers of two, for that long, by dctl and by 2plsf; the most attempts
/// that one of its transactions took, and the bound. And the processor time of a thread that sleeps in retry().
void measure_progress(observe::document& result, unsigned milliseconds);

/// D1-2: threads that insert and remove what sections allocate, for so many seconds; the memory that the process has,
/// in the second half of the time to the first.
void measure_churn(observe::document& result, unsigned seconds);

}  // namespace txsync::inline TXSYNC_BACKEND::benchmarks
