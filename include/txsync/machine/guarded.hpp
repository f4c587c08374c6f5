// SPDX-License-Identifier: Apache-2.0
// The seam: looking at data that other threads are changing at the same time.
#pragma once

#include <cstdint>
#include <type_traits>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine {

/// Reads an object that other threads may be writing, may have freed or unmapped: any value may come of it, and an
/// access fault, which is why it belongs into run_guarded(). No data race in the language's sense, because the compiler
/// and the sanitizers do not see it as an access: as if the CPU had speculated. Costs a load; orders nothing.
template <class T>
[[gnu::always_inline]] inline T peek(const T* place) noexcept;

/// How a guarded body ended.
enum class guarded_end : std::uint8_t { returned, left, fault };

/// Runs body(data); an access fault of the calling thread in it, a division by zero where that is a fault (SIGFPE), and
/// leave_guarded(), end it there and then, like an attempt that aborts: what it has stored stays, what it has
/// constructed is not destroyed. Within a guarded body, it is the inner one that ends.
/// The first call of a process sets a handler of SIGSEGV, SIGBUS and SIGFPE in front of the ones that stood (see
/// set_fault_handler(), whose handler is asked of accesses first); where the system refuses that, and where the program
/// sets a handler of its own later, which then stands in front, a fault does what it would have done. The body throws
/// nothing.
/// Cost: about 20 ns; a fault some microseconds.
TXSYNC_EXPORT guarded_end run_guarded(void (*body)(void* data), void* data) noexcept;

/// Whether the calling thread is in a guarded body.
TXSYNC_EXPORT bool is_guarded() noexcept;

/// Ends the guarded body that the calling thread is in, the innermost. Requires: is_guarded().
[[noreturn]] TXSYNC_EXPORT void leave_guarded() noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::machine

#include <txsync_backend/peek.hpp>
