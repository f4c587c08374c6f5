// SPDX-License-Identifier: Apache-2.0
// Faults after which the program has said where to continue (txsync_sim_catch_faults).
#pragma once

#include "state.hpp"

namespace txsync::sim {

/// Continues at the thread's jump target, if it has one and is not in an attempt; otherwise returns.
void land_after_fault(thread_record& thread) noexcept;

}  // namespace txsync::sim
