// SPDX-License-Identifier: Apache-2.0
// One access to one line: what it costs, what it moves between caches, and whose attempts it ends.
#pragma once

#include "fiber.hpp"

namespace txsync::sim {

/// The running thread reads or writes a line. Charges it, keeps directory, tags and attempts' sets up to date, and lets
/// the thread's filter answer for the line from now on. Does not return when this ends the thread's own attempt.
/// Never lets another thread run.
template <bool write>
void visit(thread_record& thread, line_number line, std::uintptr_t address) noexcept;

/// Hints the CPU at what visit() will look at, long enough before.
void fetch_books(const thread_record& thread, std::uintptr_t address) noexcept;

/// A prefetch: moves the line, ends nobody's attempt, and costs nothing but its own instruction.
void prefetch(thread_record& thread, line_number line, bool write) noexcept;

}  // namespace txsync::sim
