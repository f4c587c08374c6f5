// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "channel.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

/// Return addresses, the innermost first, without those of this library.
struct call_chain {
  std::uint32_t count = 0;
  std::uintptr_t addresses[place::most];

  /// Tells chains apart within one process; never 0.
  std::uint64_t hash() const noexcept;
};

/// Of the calling thread. Uses no lock and no memory of the heap. About 0.3 us a frame.
call_chain chain_of_caller() noexcept;

/// The same relative to the modules, as it crosses to the launcher.
void describe(const call_chain& chain, place& out) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::preload
