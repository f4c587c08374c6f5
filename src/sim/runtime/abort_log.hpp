// SPDX-License-Identifier: Apache-2.0
// What became of attempts: counted by cause, and for each cause by the two places in the code and the line that met.
#pragma once

#include "attempts.hpp"

namespace txsync::sim {

void log_begin(const thread_record& thread) noexcept;
void log_commit(const thread_record& thread) noexcept;
void log_abort(thread_record& thread, const abort_reason& reason) noexcept;
/// All counts and entries, as records (records.hpp).
void write_abort_log() noexcept;
/// From now on counts begin at zero.
void reset_abort_log() noexcept;

}  // namespace txsync::sim
