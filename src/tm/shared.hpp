// SPDX-License-Identifier: Apache-2.0
// What all transactions of the process share.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/locks/ticket.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/tm/detail/engine.hpp>

namespace txsync::inline TXSYNC_BACKEND::tm::detail {

inline constexpr std::uintptr_t gate_open = 0;
inline constexpr std::uintptr_t gate_shut = 1;

struct shared_words {
  /// gate_open; gate_shut while a transaction runs alone, or waits for the others to end; or, where it is biased, the
  /// runner that it is open for. Read by each that begins.
  alignas(machine::pad_bytes) std::atomic<std::uintptr_t> gate{gate_open};
  /// Transactions that sleep in retry(). Read by each that has written.
  std::atomic<std::uint32_t> sleepers{0};
  std::atomic<const algorithm*> in_use{nullptr};
  /// The version clock of the algorithms that have one, or NOrec's sequence lock.
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> clock{1};
  /// The process was forked while another thread ran alone, or by the global lock: what it did will never be complete.
  std::atomic<bool> torn_by_fork{false};
  /// The address stands for the order of attempts and of what excludes them; the value is unused
  /// (order_behind_attempts()).
  char attempts{};
  /// Whose turn it is to run alone: first come, first served, but for waiters beyond the number of CPUs
  /// (ticket_lock::bypass_bound). Not fifo_ticket_lock, which with those would wait for the scheduler at every turn.
  alignas(machine::pad_bytes) ticket_lock turn;
};
extern shared_words shared;

/// For a race detector: an attempt, or a block that excludes attempts, is ordered after all of them that have ended.
/// The machine ensures that, but the detector does not see attempts, and they read gate and lock by relaxed loads. To
/// be called within the attempt or the exclusion. No effect in other builds.
inline void order_behind_attempts() noexcept {
  machine::annotate_acquire(&shared.attempts);
  machine::annotate_unseen_acquire(&shared.attempts);
}
/// Orders this one before those that follow. To be called before the attempt, or the exclusion, ends.
inline void order_before_attempts() noexcept {
  machine::annotate_release(&shared.attempts);
  machine::annotate_unseen_release(&shared.attempts);
}

/// For a race detector of the program's, which the library was compiled without: what follows is ordered behind all
/// blocks that have ended, or begun to commit. To be called when one begins, and when it is known that others have
/// ended.
inline void order_behind_blocks() noexcept { machine::annotate_unseen_acquire(order_of_blocks()); }
/// Before a block commits, or ends without that.
inline void order_before_blocks() noexcept { machine::annotate_unseen_release(order_of_blocks()); }
/// To be called once the thread has taken the gate or the global lock, which attempts read: on return no attempt runs.
inline void exclude_attempts() noexcept {
  machine::await_attempts();
  order_behind_attempts();
}

}  // namespace txsync::inline TXSYNC_BACKEND::tm::detail
