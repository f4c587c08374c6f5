// SPDX-License-Identifier: Apache-2.0
// What a wait for a lock leaves behind: its counts and, if the launcher asks for it, call chains and events
// (profile_area.hpp).
//
// When chains are taken. The waits of a thread at a site are added up. The wait with which the sum reaches
// channel::head::ns_per_chain gets a call chain, which stands for the whole sum. So the probability of a wait to be
// chosen grows with its length, and many short waits are not lost.
//
// The chain is taken after the thread has given the lock up again. It holds the lock when it learns how long it has
// waited. To unwind then would lengthen the waits of others. Before the wait its length is unknown, and to unwind
// before each wait would cost microseconds. So the innermost call of a chain is the one that gave the lock up. The
// calls around it are those around the lock call, unless a function gives up what another one has taken.
//
// Who held it. Each wait adds to the time that threads now wait for that lock. The thread that gives the lock up is
// charged with that time. Its own sum of such times decides about chains in the same way. This, too, happens after it
// has given the lock up.
#pragma once

#include <atomic>
#include <cstdint>

#include "channel/channel.hpp"
#include "profile_area.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// Sets what the launcher asks for. To be called before the process counts anything.
void watch_contention(const channel::head& file) noexcept;
/// In the child of a fork: the other threads' waits do not exist.
void forget_contention() noexcept;

namespace contended {

/// channel::head::ns_per_chain; 0: no chains. relaxed: set before anything is counted
extern constinit std::atomic<std::uint64_t> ns_per_chain;

/// The threads that wait for one lock. A lock whose record is another lock's at the moment has none. There is no guard:
/// the thread that has just got the lock takes one step here while it holds it, however many others come.
struct alignas(64) record {
  std::atomic<const void*> lock{nullptr};
  std::atomic<std::uint64_t> waits{0};     // how many threads wait, and how long all have waited (contention.cpp)
  std::atomic<std::uint64_t> blamed{0};    // cycles that earlier holders have been charged with
  std::atomic<std::uint32_t> arrivals{0};  // since the last thread gave it up
  std::atomic<std::uint32_t> site{0};      // relaxed, with the next: that of any of the waiters
  std::atomic<lock_call> call{};
};
inline constexpr std::size_t records_size = 256;
extern constinit record records[records_size];

inline record& record_of(const void* lock) noexcept {
  // Locks of one array differ in a few low bits; a multiplication spreads them.
  return records[reinterpret_cast<std::uintptr_t>(lock) * 0x9E37'79B9'7F4A'7C15u >> 56];
}
static_assert(records_size == 1u << (64 - 56));

/// How many chains the calling thread has to take when it gives locks up.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::uint32_t chains_owed;
void released_slowly(const void* lock) noexcept;

}  // namespace contended

/// Whether chains are taken at all.
inline bool takes_chains() noexcept {
#ifdef TXSYNC_PRELOAD_SIMULATED  // nobody asks for them there
  return false;
#else
  return contended::ns_per_chain.load(std::memory_order_relaxed) != 0;
#endif
}

/// A wait of the calling thread that has begun.
struct begun_wait {
  std::uint64_t since = 0;          // cycles
  contended::record* at = nullptr;  // where it is noted; null: nowhere
};

/// The calling thread begins to wait for the lock. One of the next three calls ends the wait. For a site 0 nothing is
/// counted.
begun_wait begin_wait(std::uint32_t site, const void* lock, lock_call call) noexcept;
/// The thread has the lock. It calls released() when it has given it up.
void end_wait(std::uint32_t site, const void* lock, lock_call call, const begun_wait& wait) noexcept;
/// The thread gave up at a deadline.
void fail_wait(std::uint32_t site, const void* lock, lock_call call, const begun_wait& wait) noexcept;
/// The thread goes on without the lock, and counts nothing.
void forget_wait(const begun_wait& wait) noexcept;

/// The calling thread has just given the lock up, which may be gone by now. Two loads if nobody waited.
inline void released([[maybe_unused]] const void* lock) noexcept {
#ifndef TXSYNC_PRELOAD_SIMULATED
  // relaxed: a thread that comes to wait just now is seen at the next unlock
  if (contended::chains_owed != 0 || contended::record_of(lock).lock.load(std::memory_order_relaxed) == lock)
      [[unlikely]]
    contended::released_slowly(lock);
#endif
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
