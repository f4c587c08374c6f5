// SPDX-License-Identifier: Apache-2.0
// Hardware transactions: begin, commit, abort. Stores go to memory at once, and an abort undoes them. No other thread
// sees them in between: an access to a line of an attempt's write set first aborts that attempt, or is itself aborted.
#pragma once

#include "fiber.hpp"
#include "status.hpp"

namespace txsync::sim {

/// What led to an abort, as far as it is known. Zero: not known.
struct abort_reason {
  cause why;
  std::uint8_t code = 0;
  overflow_kind overflow = overflow_kind::other;
  std::uintptr_t address = 0;      ///< of the data: where the other access was
  std::uintptr_t own_address = 0;  ///< where the attempt had first touched the line
  std::uint32_t own_code = 0;      ///< the code that brought the line into the attempt
  std::uint32_t other_code = 0;    ///< the code of the conflicting access
};

/// Undoes the attempt of a thread that is not running now. If it is suspended, its thread goes on until it resumes.
void abort_other(thread_record& victim, const abort_reason& reason) noexcept;
/// Undoes the running thread's attempt.
[[noreturn]] void abort_self(const abort_reason& reason) noexcept;
/// The same, but returns if the attempt is suspended, with its stores undone.
void end_own_attempt(const abort_reason& reason) noexcept;
/// Undoes the running thread's attempt after an access that its page's rights refuse. If the machine says so, the
/// program's handler is called before the attempt's begin returns.
[[noreturn]] void abort_self_for(const refused_access& refused) noexcept;
/// For anything that a CPU cannot do inside an attempt. It has no effect outside of attempts, nor while the attempt is
/// suspended. An interrupt is an exception: it lets another thread have the CPU, so it ends a suspended attempt, too.
void leave_attempt(cause why) noexcept;
/// The thread ends, and with it an attempt that it had suspended.
void drop_suspended_attempt(thread_record& thread) noexcept;

/// Notes the bytes of the running thread's write in its undo log, and in attempts of threads whose stacks it writes to.
void note_write(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept;

/// Does what abort_self() asked for. Runs on the scheduler's stack.
void finish_abort_of_current() noexcept;

}  // namespace txsync::sim
