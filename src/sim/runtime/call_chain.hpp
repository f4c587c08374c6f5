// SPDX-License-Identifier: Apache-2.0
// Where in the program a thread is: for the one line that ends a simulation, and for what is told of aborts.
#pragma once

#include <cstdint>

#include "failure.hpp"
#include "fiber.hpp"

namespace txsync::sim {

inline constexpr unsigned max_calls = 16;

/// Places in the code, from the innermost function of the program outwards: the instruction behind each call, and for
/// the innermost the one behind the access.
struct call_chain {
  std::uintptr_t codes[max_calls] = {};
  unsigned count = 0;
};

/// Where the caller is, and where a thread is that does not run. Empty where its stack has no room left to look. The
/// thread goes on as if nothing had been. Cost: some ten microseconds, of the host.
/// A stack of the program's own may lead nowhere: its lowest frame may return to an address at which there is nothing.
/// Then the chain ends there.
call_chain calls_of_caller() noexcept;
call_chain calls_of(thread_record& thread) noexcept;

/// "f < g < main": the functions that the caller is in, from the innermost one of the program outwards. Without symbols
/// in the image, addresses.
void add_call_chain(line_text& line) noexcept;

/// The same of a thread that does not run, and will not again.
void add_call_chain_of(line_text& line, thread_record& thread) noexcept;

/// " thread 0 in f < main; thread 1 in ...": the first few threads for which chosen(thread) is true. Nothing is
/// simulated any more.
void add_places(line_text& line, bool (*chosen)(const thread_record& thread)) noexcept;

/// Of the handler of access faults, first of all: a walk along a stack that met the fault ends there, and does not come
/// back here. No effect outside of walks.
void end_walk_at_fault() noexcept;

/// Has libgcc make its tables of frames, which otherwise come with the first throw, perhaps inside an attempt, whose
/// abort would free them. Before the first thread.
void make_tables_of_frames() noexcept;

}  // namespace txsync::sim
