// SPDX-License-Identifier: Apache-2.0
// The call chains of both sides of an abort: of the attempt that ended, and of the thread that ended it.
#pragma once

#include "attempts.hpp"

namespace txsync::sim {

/// Called before the attempt's stack is restored. Notes the calls once for each two places in the code, for up to some
/// hundred pairs.
void note_calls(thread_record& victim, const abort_reason& reason) noexcept;

/// Where attempts were when they ended, and which function had called that code. Every abort counts at first, later one
/// of some. Starts anew: what was counted before is dropped.
void begin_to_sample_ends() noexcept;

/// Writes what was noted, as records (records.hpp).
void write_abort_calls() noexcept;

}  // namespace txsync::sim
