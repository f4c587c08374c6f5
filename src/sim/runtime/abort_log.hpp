// SPDX-License-Identifier: Apache-2.0
// What became of attempts: counted by cause, and for each cause by the two places in the code and the line that met.
#pragma once

#include "attempts.hpp"

namespace txsync::sim {

void log_commit(const thread_record& thread) noexcept;
void log_abort(thread_record& thread, const abort_reason& reason) noexcept;
/// The code that brought the line into the attempt, or where that ended.
std::uint32_t own_site_of(const thread_record& thread, const abort_reason& reason) noexcept;

/// All counts and entries, as records (records.hpp).
void write_abort_log() noexcept;
/// Attempts are counted from the start on, whatever the program's phases are, until one is measured: then those that
/// end in it, and of their time what lies in it.
void count_attempts(bool measured) noexcept;

/// Whether what becomes of attempts is counted now.
bool counts_attempts() noexcept;

}  // namespace txsync::sim
