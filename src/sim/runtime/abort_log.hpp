// SPDX-License-Identifier: Apache-2.0
// What happened to attempts: counted by cause, and for each cause by the two places in the code and the line.
#pragma once

#include "attempts.hpp"

namespace txsync::sim {

void log_commit(const thread_record& thread) noexcept;
void log_abort(thread_record& thread, const abort_reason& reason) noexcept;
/// The code that brought the line into the attempt, or at which the attempt ended.
std::uint32_t own_code_of(const thread_record& thread, const abort_reason& reason) noexcept;

/// Writes all counts and entries, as records (records.hpp).
void write_abort_log() noexcept;
/// Attempts are counted from the start, whatever the program's phases are, until a phase is measured. From then on,
/// only those that end in it are counted, with the part of their time that lies in it.
void count_attempts(bool measured) noexcept;

/// Whether attempts are counted now.
bool counts_attempts() noexcept;

}  // namespace txsync::sim
