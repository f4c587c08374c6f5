// SPDX-License-Identifier: Apache-2.0
// The seam: reading data that other threads are changing at the same time.
#pragma once

#include <cstdint>
#include <type_traits>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// Reads an object that other threads may be writing, or may have freed or unmapped. The result may be any value. The
/// read may fault, so call it in run_guarded(). It is no data race in the sense of the language: neither the compiler
/// nor the sanitizers see an access. It is as if the CPU had speculated. Cost: a load. It orders nothing.
template <class T>
[[gnu::always_inline]] inline T speculative_load(const T* place) noexcept;
template <class T>
[[deprecated("speculative_load")]] inline T peek(const T* place) noexcept {
  return speculative_load(place);
}

/// How a guarded body ended.
enum class guarded_end : std::uint8_t { returned, left, fault };

/// Runs body(data). Like an attempt that aborts, the body ends at once at
///  - an access fault of the calling thread in it,
///  - a division by zero, where that is a fault (SIGFPE),
///  - leave_guarded().
///
/// What it has stored stays, and what it has constructed is not destroyed. If guarded bodies are nested, the inner one
/// ends.
/// The first call of a process installs a handler for SIGSEGV, SIGBUS and SIGFPE in front of the existing handlers.
/// (The handler of set_fault_handler() is asked about accesses first.) If the system refuses that, a fault has its
/// usual effect. The same holds if the program later installs a handler of its own, which then stands in front.
/// Requires: the body throws nothing. Cost: about 20 ns; a fault some microseconds.
TXSYNC_EXPORT guarded_end run_guarded(void (*body)(void* data), void* data) noexcept;

/// Whether the calling thread runs a guarded body.
TXSYNC_EXPORT bool is_guarded() noexcept;

/// Ends the guarded body that the calling thread runs, the innermost one. Requires: is_guarded().
[[noreturn]] TXSYNC_EXPORT void leave_guarded() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

#include <txsync_backend/speculative_load.hpp>
