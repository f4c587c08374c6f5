// SPDX-License-Identifier: Apache-2.0
// Faults that the program has said where to go on after (txsync_sim_catch_faults).
#pragma once

#include "state.hpp"

namespace txsync::sim {

/// Goes on at the thread's landing, where it has one and runs no attempt; else returns.
void land_after_fault(thread_record& thread) noexcept;

}  // namespace txsync::sim
