// SPDX-License-Identifier: Apache-2.0
// Where in the program a thread is: for the one line that ends a simulation, and for reports of aborts.
#pragma once

#include <cstdint>

#include "../protocol.hpp"
#include "failure.hpp"
#include "fiber.hpp"

namespace txsync::sim {

/// The calls of the caller, and of a thread that is not running. Empty if the stack has too little room for the walk.
/// The thread goes on as if nothing had happened. Cost: some ten microseconds of the host. On a stack of the program's
/// own, the lowest frame may return to an address at which there is nothing. The chain then ends there.
call_chain calls_of_caller() noexcept;
call_chain calls_of(thread_record& thread) noexcept;

/// "f < g < main": the functions that the caller is in, from the innermost of the program outwards. Addresses if the
/// image has no symbols.
void add_call_chain(line_text& line) noexcept;
/// A place in the code, by the instruction after it. A reader who has the symbols gets "code at 0x...", others the
/// function.
void add_code(line_text& line, std::uintptr_t code) noexcept;

/// The same for calls that were kept.
void add_call_chain(line_text& line, const call_chain& chain) noexcept;

/// The same for a thread that is not running and will not run again.
void add_call_chain_of(line_text& line, thread_record& thread) noexcept;

/// " thread 0 in f < main; thread 1 in ...": the first few threads for which chosen(thread) is true. Afterwards nothing
/// is simulated any more.
void add_places(line_text& line, bool (*chosen)(const thread_record& thread)) noexcept;

/// Called by the handler of access faults, first of all. If a walk along a stack met the fault, the walk ends there and
/// this does not return. No effect outside of walks.
void end_walk_at_fault() noexcept;

/// Makes libgcc build its tables of frames, before the first thread runs. Otherwise it builds them at the first throw,
/// perhaps inside an attempt whose abort would free them.
void make_tables_of_frames() noexcept;

}  // namespace txsync::sim
