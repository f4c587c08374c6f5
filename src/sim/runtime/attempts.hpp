// SPDX-License-Identifier: Apache-2.0
// Hardware transactions: begin, commit, abort. Stores go to memory at once and are undone by an abort; nobody else sees
// them in between, since whoever touches a line of an attempt's write set aborts it first, or is aborted.
#pragma once

#include "fiber.hpp"
#include "status.hpp"

namespace txsync::sim {

/// What there was no room for.
enum class lack : std::uint8_t { other, l1_set, rest_of_l1_set, entries, l1_set_of_reads, reads };

/// What led to an abort, as far as it is known. Zero: not.
struct abort_reason {
  cause why;
  std::uint8_t code = 0;
  lack of = lack::other;
  std::uintptr_t address = 0;      ///< data: where it was met
  std::uintptr_t own_address = 0;  ///< and where the attempt had first touched the line
  std::uint32_t own_site = 0;      ///< the code that brought the line into the attempt
  std::uint32_t other_site = 0;    ///< the code that met it
};

/// Undoes the attempt of a thread that is not running just now; a suspended one goes on until it resumes.
void abort_other(thread_record& victim, const abort_reason& reason) noexcept;
/// Undoes the running thread's.
[[noreturn]] void abort_self(const abort_reason& reason) noexcept;
/// The running thread's as well; returns where it is suspended, with its stores undone.
void end_own_attempt(const abort_reason& reason) noexcept;
/// Anything that a CPU cannot do inside an attempt. No effect outside, nor while it is suspended, but for an interrupt:
/// what lets another thread have the CPU ends a suspended attempt, too.
void leave_attempt(cause why) noexcept;
/// The thread ends, and with it an attempt that it had suspended.
void drop_suspended_attempt(thread_record& thread) noexcept;

/// Notes the bytes of the running thread's write in its undo log, and in the copies of other threads' stacks.
void note_write(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept;

/// On the scheduler's stack: does what abort_self() asked for.
void finish_abort_of_current() noexcept;

}  // namespace txsync::sim
