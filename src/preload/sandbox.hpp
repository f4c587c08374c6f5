// SPDX-License-Identifier: Apache-2.0
// Programs that give up system calls. A program whose locks are the C library's needs little more than futex() from
// then on. It may let a filter (seccomp) kill it for anything else. So we make no call that the filter would not simply
// answer. Such calls fail with EPERM instead.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync_backend/name.hpp>

struct sock_fprog;

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// A set of the system calls that the library makes after its start. Bit i is that of call_numbers[i]. It only grows.
extern constinit std::atomic<std::uint32_t> calls_given_up;

/// False if the number is given up. A call without a bit is never given up.
bool may_call(long number) noexcept;

/// The calls for which this filter does more than answer, or decides by arguments.
std::uint32_t calls_that_end_in(const sock_fprog& filter) noexcept;
inline constexpr std::uint32_t every_call = ~std::uint32_t{0};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
