// SPDX-License-Identifier: Apache-2.0
// The seam: what the outside says.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine {

/// The value of an environment variable, or null; null for every name in programs with raised privileges
/// (secure_getenv).
TXSYNC_EXPORT const char* environment(const char* name) noexcept;

/// A seed that differs from run to run natively, where TXSYNC_SEED, a number, overrides it; on the simulated machine
/// that of the run, or of the schedule that is explored. Cost: a load, once it is known; natively a system call before.
/// Thread-safe.
TXSYNC_EXPORT std::uint64_t random_seed() noexcept;

/// What a run does at present. The simulated machine counts attempts from `measured` on until the next phase, and may
/// be told to charge nothing for what one thread alone does in `set_up`; native machines do not look at it.
enum class phase : std::uint8_t { running, set_up, measured };

/// The run comes into another phase; it begins in `running`. To be called by one thread for all.
TXSYNC_EXPORT void enter_phase(phase next) noexcept;

/// Writes a message to the standard error, as far as it can be written at once. No cancellation point; leaves errno
/// alone. For what cannot be told in any other way.
TXSYNC_EXPORT void complain(const char* text, std::size_t length) noexcept;

/// The name of this back end as results print it: "native", "scripted" or "simulated".
TXSYNC_EXPORT const char* backend_name() noexcept;

/// The operating system's and the C library's own words, for example "Linux 6.12.8" and "glibc 2.36". Never null.
TXSYNC_EXPORT const char* kernel_version() noexcept;
TXSYNC_EXPORT const char* libc_version() noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::machine
