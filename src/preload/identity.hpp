// SPDX-License-Identifier: Apache-2.0
// Which thread, which process. The kernel's numbers serve wherever owners of locks, queues and counters are compared.
// Locks may lie in memory that processes share, whether or not their attributes say so. So numbers of our own would not
// do.
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

#include "channel/processes.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// A thread's number before it needs one; the owner of no lock.
inline constexpr std::uint32_t no_thread = 0x7FFF'FFFF;

extern constinit thread_local std::uint32_t my_number;

std::uint32_t number_thread() noexcept;

/// The kernel's thread id. If a sandbox hides it: a number from `first_own_number` up, which is unique only in the
/// process.
inline std::uint32_t thread_number() noexcept { return my_number != no_thread ? my_number : number_thread(); }

/// Greater than the kernel's greatest thread id (2^22).
inline constexpr std::uint32_t first_own_number = 0x4000'0000;

/// Asks the system each time. If the system does not answer, the result is no thread id.
std::uint32_t kernels_thread_number() noexcept;

/// In the child of a fork, by its only thread: it now has another number, and still holds what it held.
void renew_identity() noexcept;

/// The part of is_callers() that only the child of a fork needs.
bool was_callers(std::uint32_t owner, const void* lock) noexcept;

/// Whether the calling thread is the owner of the lock. The child's thread also holds what the forking thread held,
/// unless both processes use the same memory.
inline bool is_callers(std::uint32_t owner, const void* lock) noexcept {
  return owner == thread_number() || (owner != 0 && was_callers(owner, lock));
}

/// The kernel's number of the calling process. Correct in the child of a fork from its first instruction on. Never 0.
std::uint32_t process_number() noexcept;

/// The same in 15 bits: never 0, never the number of a parent, and rarely that of another process.
std::uint16_t process_mark() noexcept;

using channel::has_ended;

/// Whether other processes may see stores to it. Slow: asks the system for all mappings (some 0.1 ms). If the system
/// does not answer: false in the child of a fork, otherwise true.
bool is_shared_memory(const void* address) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
