// SPDX-License-Identifier: Apache-2.0
// The systematic order: the host says which threads go on, and learns what each has touched (src/simulate/systematic.hpp
// has the algorithm). A segment is what a thread does between two choices.
//
// A thread that would only wait cannot be chosen: for a lock, a semaphore or the end of another thread. So "it came first
// and slept" is no execution of its own beside "it came later".
#pragma once

#include "../protocol.hpp"
#include "fiber.hpp"

namespace txsync::sim {

/// Before the first choice. `path` is of a file of words of this machine (null: there are no choices):
///  - the number of choices, and the threads that go on;
///  - the number of sleeping threads; for each its number, the number of its touches, and for each of these the address
///    of the word, its bytes, and whether it is written.
void set_up_systematic(const char* path) noexcept;

/// Of the threads that are on a hardware thread, the one that goes on; null if none can. Ends the run if each of them
/// would only repeat an execution that was explored.
thread_record* choose_systematically(thread_record* const* running, unsigned count) noexcept;
/// The running thread spins: another one goes on next, if the host leaves the choice.
void passes_in_systematic() noexcept;

/// What the segment does.
void touches_in_segment(std::uintptr_t address, std::size_t bytes, bool write) noexcept;
void makes_runnable_in_segment(const thread_record& thread) noexcept;
void joins_in_segment(const thread_record& ended) noexcept;
void happens_in_segment(segment_event_kind kind, const void* object) noexcept;
void ends_process_in_segment() noexcept;

/// Records the last segment.
void end_segments() noexcept;

}  // namespace txsync::sim
