// SPDX-License-Identifier: Apache-2.0
// The seam: pages.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// The bytes of a page, a power of two (4096, 16384, 65536). The system is asked once.
TXSYNC_EXPORT std::size_t page_size() noexcept;

/// Zero is all rights.
enum class page_rights : std::uint8_t { read_write, read, none };

/// Maps at least `bytes` of new zeroed pages, readable and writable. They take no memory before they are touched. Null
/// if the system has none. Never uses malloc.
[[nodiscard]] TXSYNC_EXPORT void* map_pages(std::size_t bytes) noexcept;

/// Maps the same memory at two addresses: stores through one are read through the other. Both are null on failure. The
/// child of a fork shares the memory with its parent. Each address needs an unmap_pages() of its own.
struct double_mapping {
  void* first = nullptr;
  void* second = nullptr;
};
[[nodiscard]] TXSYNC_EXPORT double_mapping map_pages_twice(std::size_t bytes) noexcept;

/// In the child of a fork: maps new zeroed memory at the same two addresses, in place of what it shares with its parent.
/// All rights are as in the beginning. False: the system has none; then nothing is mapped there.
[[nodiscard]] TXSYNC_EXPORT bool renew_pages_twice(const double_mapping& at, std::size_t bytes) noexcept;

/// Gives pages back. Requires: an address and size as mapped.
TXSYNC_EXPORT void unmap_pages(void* address, std::size_t bytes) noexcept;

/// Gives the memory of whole pages back to the system. They stay mapped, at both addresses if they have two, and their
/// contents are lost. Cost: a system call, and an interrupt on other CPUs that use them.
TXSYNC_EXPORT void discard_pages(void* address, std::size_t bytes) noexcept;

/// Gives memory to whole pages that have none yet. Later accesses by this address do not wait for it, and abort no
/// attempt. Nothing happens where there is no right to write. Contents stay. The pages are mapped. Cost: a system call,
/// and 0.1..0.5 us for each new page.
TXSYNC_EXPORT void populate_pages(void* address, std::size_t bytes) noexcept;

/// Changes the rights of whole pages. False if the system refuses. 1..10 us, and an interrupt on other CPUs that use
/// them.
[[nodiscard]] TXSYNC_EXPORT bool protect_pages(void* address, std::size_t bytes, page_rights rights) noexcept;

/// The result of a handler: the access was dealt with and may be tried again, or the fault is not the handler's.
enum class fault_answer : std::uint8_t { retry, not_mine };
using fault_handler = fault_answer (*)(void* address, bool write, void* argument);

/// Calls `handler` for every access fault of this process outside attempts, on the faulting thread, in signal context.
/// On machines that report the faults of attempts (POWER), also for those: after the attempt has ended, and before
/// begin() returns its status.
/// There is one handler at a time; null removes it. A fault that the handler does not claim has the effect that it
/// would have without txsync. It goes to the signal handler that was installed before the first call, or the system
/// takes its default action. `write` is true if the machine says so, and also if it cannot tell.
/// Returns false if the system refuses. Thread-safe, also against faults. The replaced handler may still be running
/// when this returns.
[[nodiscard]] TXSYNC_EXPORT bool set_fault_handler(fault_handler handler, void* argument) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
