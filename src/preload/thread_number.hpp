// SPDX-License-Identifier: Apache-2.0
// Who owns a lock: small numbers of threads. Not the system's, which change in the child of a fork while the locks that
// its thread holds do not.
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::preload {

/// What a thread has before it needs a number; the owner of no lock.
inline constexpr std::uint32_t no_thread = 0x7FFF'FFFF;  // more than mutex_state::owner_bits

extern constinit thread_local std::uint32_t my_number;

std::uint32_t number_thread() noexcept;

/// From 1 up; unique among the threads of the process.
inline std::uint32_t thread_number() noexcept { return my_number != no_thread ? my_number : number_thread(); }

}  // namespace txsync::inline TXSYNC_BACKEND::preload
