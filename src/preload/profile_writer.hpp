// SPDX-License-Identifier: Apache-2.0
// Writes into the parts of the launcher's file that profile_area.hpp describes.
#pragma once

#include <cstdint>

#include "observe/blocks.hpp"
#include "profile_area.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// Writes the call chain of the calling thread, which stands for the sum. Does nothing without a channel with room for
/// chains. Cost: the unwinding, 0.3 us a call; for a chain that is new to the process 20 us and more.
void write_chain(chain_kind kind, lock_call call, std::uint32_t site, const observe::wait_sum& sum) noexcept;

/// Times in machine::cycles(). Does nothing without a channel with room for events.
void write_event(event_kind kind, std::uint32_t site, const void* lock, std::uint64_t since,
                 std::uint64_t cycles) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
