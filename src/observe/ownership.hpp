// SPDX-License-Identifier: Apache-2.0
// Which thread counts in a block. ownership.cpp notices the end of a thread by a call of machine::at_thread_exit(). The
// preloaded library has a file of its own instead, which needs no key of the program (src/preload/ownership.cpp).
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::observe {

/// Part of a block. It has room for a mutex of the C library.
struct ownership {
  alignas(void*) unsigned char room[48];
};

/// Blocks among which a thread looks for one without an owner.
struct ownerships {
  std::atomic<std::uint32_t> unowned{0};  ///< at least so many have none, where the end of a thread is told
};
/// False: a search would be in vain. Among ten thousand threads it would take each of them some 100 us.
bool may_be_unowned(const ownerships& blocks) noexcept;

/// Requires: nobody else knows the block yet. `among` lives for ever.
void make_unowned(ownership& block, ownerships& among) noexcept;

/// Makes the calling thread the owner until it ends. False: a living thread is the owner, or the end of the calling
/// thread would not be noticed. The owner sees all that the owner before has written.
bool own(ownership& block) noexcept;

/// False when the calling thread will never own a block again, because it is about to end.
bool may_own() noexcept;

/// The calling thread is about to end and counts no more in that block. False: it does not count there, as in the child
/// of a fork whose parent owns the block.
bool stop_counting(const ownership& block) noexcept;
/// Asked where stop_counting() does not know the block: of what other floors own. One floor.
void also_stops(bool (*stop)(const ownership& block)) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::observe
