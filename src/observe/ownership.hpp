// SPDX-License-Identifier: Apache-2.0
// Which thread counts in a block. ownership.cpp notices the end of a thread by machine::at_thread_exit(). The preloaded
// library replaces it by src/preload/ownership.cpp, which needs no thread-specific key of the program.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// A part of each block, with room for a mutex of the C library.
struct ownership {
  alignas(void*) unsigned char room[48];
};

/// A set of blocks among which a thread looks for one without an owner.
struct ownerships {
  std::atomic<std::uint32_t> unowned{0};  ///< at least this many have no owner, if ends of threads are noticed
};
/// False: a search would find nothing. With ten thousand threads, each would spend some 100 us on it.
bool may_be_unowned(const ownerships& blocks) noexcept;

/// Requires: no other thread knows the block yet. `among` lives for ever.
void make_unowned(ownership& block, ownerships& among) noexcept;

/// Makes the calling thread the owner until it ends. False: a living thread is the owner, or the end of the calling
/// thread would not be noticed. The new owner sees everything that the former one has written.
bool own(ownership& block) noexcept;

/// False if the calling thread will never own a block again, because it is about to end.
bool may_own() noexcept;

/// The calling thread is about to end and counts no more in that block. False: it does not count there, for example in
/// the child of a fork whose parent owns the block.
bool stop_counting(const ownership& block) noexcept;
/// Registers a function that stop_counting() calls for blocks it does not know: those of another floor. One floor only.
void also_stops(bool (*stop)(const ownership& block)) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
