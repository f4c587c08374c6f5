// SPDX-License-Identifier: Apache-2.0
// The seam: pages.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine {

/// Bytes of a page, asked of the system once; a power of two (4096, 16384, 65536).
TXSYNC_EXPORT std::size_t page_size() noexcept;

enum class page_rights : std::uint8_t { none, read, read_write };

/// New zeroed pages, readable and writable, at least `bytes`, not reserved in memory until touched. Null when the
/// system has none. Never uses malloc.
[[nodiscard]] TXSYNC_EXPORT void* map_pages(std::size_t bytes) noexcept;

/// The same memory at two addresses: stores through one are read through the other. Both null on failure. The child
/// of a fork shares it with its parent. Each address is given back by an unmap_pages() of its own.
struct double_mapping {
  void* first = nullptr;
  void* second = nullptr;
};
[[nodiscard]] TXSYNC_EXPORT double_mapping map_pages_twice(std::size_t bytes) noexcept;

/// Gives pages back. Requires: an address and size as mapped.
TXSYNC_EXPORT void unmap_pages(void* address, std::size_t bytes) noexcept;

/// Changes the rights of whole pages. False when the system refuses. 1..10 us, and an interrupt on other CPUs that use
/// them.
[[nodiscard]] TXSYNC_EXPORT bool protect_pages(void* address, std::size_t bytes, page_rights rights) noexcept;

/// What a handler answers: the access was dealt with and may be tried again, or it was a stranger's.
enum class fault_answer : std::uint8_t { retry, not_mine };
using fault_handler = fault_answer (*)(void* address, bool write, void* argument);

/// Calls `handler` for every access fault of this process outside attempts, on the faulting thread, in signal context.
/// One at a time; null removes it. A fault that no handler claims goes where it would have gone without txsync: to the
/// signal handler that stood before the first call, or to the system's own action. `write` is true where the machine
/// says so, and where it cannot tell. False when the system refuses. Thread-safe, also against faults; the handler that
/// was replaced may still be running when this returns.
[[nodiscard]] TXSYNC_EXPORT bool set_fault_handler(fault_handler handler, void* argument) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::machine
