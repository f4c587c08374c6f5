// SPDX-License-Identifier: Apache-2.0
// What all transactions of the process share.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/locks/ticket.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/tm/detail/engine.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

inline constexpr std::uintptr_t gate_open = 0;
inline constexpr std::uintptr_t gate_closed = 1;

struct shared_words {
  /// gate_open; gate_closed while a serial transaction runs, or waits for the others to end; if biased, the runner that
  /// it is open for. Each transaction reads it when it begins.
  alignas(machine::pad_bytes) std::atomic<std::uintptr_t> quiescence_gate{gate_open};
  /// How many transactions sleep in retry(). Each transaction that has written reads it.
  std::atomic<std::uint32_t> sleepers{0};
  std::atomic<const algorithm*> in_use{nullptr};
  /// The one that was asked for. Where the hardware makes no attempts, another one may be in its place.
  std::atomic<const algorithm*> asked{nullptr};
  /// The version clock of the algorithms that have one, or NOrec's sequence lock.
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> clock{1};
  /// Threads that run software transactions, or may begin one at any time (hybrid/announcements.hpp). Hardware attempts
  /// of some algorithms read it.
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> announced{0};
  /// Software transactions that commit at the moment, under hynorec and hytl2.
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> committing{0};
  /// auto's trials of the hardware (hybrid/path_choice.hpp). While `ends` is not 0, all blocks try it. In machine::cycles().
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> trial_ends{0};
  std::atomic<std::uint64_t> trial_began{0};
  std::atomic<std::uint64_t> trial_interval{0};
  /// The process was forked while another thread ran a serial transaction, or one under the global lock. That
  /// transaction will never be complete.
  std::atomic<bool> torn_by_fork{false};
  /// The address stands for the order of attempts and of what excludes them (order_behind_attempts()). The value is
  /// unused.
  char attempts{};
  /// Whose turn it is to run a serial transaction: first come, first served, except waiters beyond the number of CPUs
  /// (ticket_lock::bypass_bound). Not fifo_ticket_lock, which would wait for the scheduler at every turn with so many.
  alignas(machine::pad_bytes) ticket_lock turn;
};
extern shared_words shared;

/// For a race detector: orders an attempt, or a block that excludes attempts, after all of them that have ended. The
/// machine ensures that. But the detector does not see attempts, and they read gate and lock by relaxed loads. To be
/// called within the attempt or the exclusion. No effect in other builds.
inline void order_behind_attempts() noexcept {
  machine::annotate_acquire(&shared.attempts);
  machine::annotate_unseen_acquire(&shared.attempts);
}
/// Orders this one before those that follow. To be called before the attempt, or the exclusion, ends.
inline void order_before_attempts() noexcept {
  machine::annotate_release(&shared.attempts);
  machine::annotate_unseen_release(&shared.attempts);
}

/// For a race detector of the program, without which the library was compiled. What follows is ordered after all blocks
/// that have ended, or have begun to commit. To be called when a block begins, and when others are known to have ended.
inline void order_behind_blocks() noexcept { machine::annotate_unseen_acquire(order_of_blocks()); }
/// To be called before a block commits, or ends without a commit.
inline void order_before_blocks() noexcept { machine::annotate_unseen_release(order_of_blocks()); }
/// To be called once the thread has taken the gate or the global lock, which attempts read. On return no attempt runs.
inline void exclude_attempts() noexcept {
  machine::await_attempts();
  order_behind_attempts();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
