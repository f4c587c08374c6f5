// SPDX-License-Identifier: Apache-2.0
// Which of pthread's locks the threads of an explored program hold, where they have taken them, and what they wait for.
// The message on a deadlock says so, and the order systematic needs it. The library tells before and after each call
// (toolchain/library/held_locks.cpp).
#pragma once

#include "fiber.hpp"
#include "line_text.hpp"

namespace txsync::sim {

/// "; thread 0 waits for the lock m that thread 1 has taken in ...", for each thread that waits for a lock which another
/// one holds.
void add_awaited_locks(line_text& line) noexcept;

/// False if it is about to wait for a lock, a semaphore or the end of a thread, and would sleep. Waits with a deadline do
/// not count. Only where each thread's waits begin at a step: in the order systematic.
bool can_go_on(const thread_record& thread) noexcept;

/// Whether it is about to take a lock, and waits for it if need be.
bool asks_for_lock(const thread_record& thread) noexcept;
/// Whether that lock is to be taken for reading.
bool asks_for_reading(const thread_record& thread) noexcept;
/// What stands for that lock among the accesses of steps: its first word. Requires: asks_for_lock().
byte_range asked_word(const thread_record& thread) noexcept;

/// A schedule begins: nobody holds a lock.
void forget_held_locks() noexcept;

}  // namespace txsync::sim
