// SPDX-License-Identifier: Apache-2.0
// How the threads of a run shared the turns at a lock site.
//
// Threads do different work: a thread that takes a lock only twice is not slow. So threads are compared only at a site
// where they took the lock min_compared_turns times or waited for a hundredth of the run. The slowest thread is the one
// with the fewest turns among those that waited for a tenth of the run. Only waiting keeps a thread from its turns.
// Between two runs it is compared with the thread of the same rank by turns, because threads have no names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// What a thread did at a site. The counts of a thread that has ended are added to those of the thread that took over
/// its block.
struct thread_turns {
  std::uint64_t turns = 0;    ///< acquisitions
  std::uint64_t wait_ns = 0;  ///< for the lock, including a wait that has not ended
};

inline constexpr std::uint64_t min_compared_turns = 16;

struct slow_thread {
  double share = 0;         ///< fraction of the turns of all compared threads, 0..1
  std::size_t rank = 0;     ///< by turns among the compared threads; 0: the fewest
  std::size_t threads = 0;  ///< how many threads were compared
  std::uint64_t wait_ns = 0;
};

/// The threads that are compared, those with the fewest turns first.
std::vector<thread_turns> compared_threads(std::span<const thread_turns> all, std::uint64_t run_ns);

/// The slowest of the compared threads; nothing if no thread waited for a tenth of the run.
std::optional<slow_thread> slowest_thread(std::span<const thread_turns> compared, std::uint64_t run_ns);

/// The share of the thread of that rank, or of the last one if there are fewer; 0 if there is none.
double share_of_rank(std::span<const thread_turns> compared, std::size_t rank);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
