// SPDX-License-Identifier: Apache-2.0
// Which of pthread's locks the threads of an explored program hold, and where they have taken them: for the message on a
// deadlock. The library says so before and after each call (toolchain/library/held_locks.cpp).
#pragma once

#include "fiber.hpp"
#include "line_text.hpp"

namespace txsync::sim {

/// "; thread 0 waits for the lock m that thread 1 has taken in ...", for each thread that waits for a lock which another
/// one holds.
void add_awaited_locks(line_text& line) noexcept;

/// A schedule begins: nobody holds a lock.
void forget_held_locks() noexcept;

}  // namespace txsync::sim
