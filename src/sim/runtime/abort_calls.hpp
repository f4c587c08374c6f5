// SPDX-License-Identifier: Apache-2.0
// How the two got there that an abort is about: the calls of the attempt that ended, and of whoever ended it.
#pragma once

#include "attempts.hpp"

namespace txsync::sim {

/// Before the attempt's stack is put back. Looks once for each two places in the code, up to some hundred of them.
void note_calls(thread_record& victim, const abort_reason& reason) noexcept;

/// Where attempts were as they ended, and who had called that function: counted for one abort in some, after the first
/// ones. Nothing of what was counted before.
void begin_to_sample_ends() noexcept;

/// What was noted, as records (records.hpp).
void write_abort_calls() noexcept;

}  // namespace txsync::sim
