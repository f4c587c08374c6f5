// SPDX-License-Identifier: Apache-2.0
// The seam: what the environment of the process says.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// The value of an environment variable, or null. In programs with raised privileges it is null for every name
/// (secure_getenv).
TXSYNC_EXPORT const char* environment(const char* name) noexcept;

/// A seed for random numbers. Natively it differs from run to run, unless TXSYNC_SEED, a number, overrides it. On the
/// simulated machine it is the seed of the run, or of the explored schedule. Cost: a load; the first native call makes
/// a system call. Thread-safe.
TXSYNC_EXPORT std::uint64_t random_seed() noexcept;

/// The phase of a run. The simulated machine counts attempts from `measured` until the next phase. It may be told to
/// charge nothing for what a single thread does in `set_up`. Native machines ignore phases.
enum class phase : std::uint8_t { running, set_up, measured };

/// The run enters another phase; it begins in `running`. One thread calls this for all.
TXSYNC_EXPORT void enter_phase(phase next) noexcept;

/// Writes a message to the standard error, as much of it as can be written at once. It is no cancellation point, and
/// leaves errno unchanged. For messages that cannot be reported in any other way.
TXSYNC_EXPORT void complain(const char* text, std::size_t length) noexcept;

/// The name of this back end as results print it: "native", "scripted" or "simulated".
TXSYNC_EXPORT const char* backend_name() noexcept;

/// The versions of the operating system and of the C library in their own words, for example "Linux 6.12.8" and "glibc
/// 2.36". Never null.
TXSYNC_EXPORT const char* kernel_version() noexcept;
TXSYNC_EXPORT const char* libc_version() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
