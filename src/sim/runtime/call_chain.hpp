// SPDX-License-Identifier: Apache-2.0
// Where in the program a thread is, by the names of functions: for the one line that ends a simulation. What is done
// here leaves nothing as it was; the simulation must not go on.
#pragma once

#include <cstdint>

#include "failure.hpp"
#include "fiber.hpp"

namespace txsync::sim {

/// "f < g < main": the functions that the caller is in, from the innermost one of the program outwards. Without symbols
/// in the image, addresses.
void add_call_chain(line_text& line) noexcept;

/// The same of a thread that does not run.
void add_call_chain_of(line_text& line, thread_record& thread) noexcept;

/// Has libgcc make its tables of frames, which otherwise come with the first throw, perhaps inside an attempt, whose
/// abort would free them. Before the first thread.
void make_tables_of_frames() noexcept;

}  // namespace txsync::sim
