// SPDX-License-Identifier: Apache-2.0
// What all transactions of the process share.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/locks/ticket.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/tm/detail/engine.hpp>

namespace txsync::inline TXSYNC_BACKEND::tm::detail {

struct shared_words {
  /// Not 0 while a transaction runs alone, or waits for the others to end. Read by each that begins.
  alignas(machine::pad_bytes) std::atomic<std::uint32_t> gate{0};
  /// Transactions that sleep in retry(). Read by each that has written.
  std::atomic<std::uint32_t> sleepers{0};
  std::atomic<const algorithm*> in_use{nullptr};
  /// The version clock of the algorithms that have one, or NOrec's sequence lock.
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> clock{1};
  /// The process was forked while another thread ran alone, or by the global lock: what it did will never be complete.
  std::atomic<bool> torn_by_fork{false};
  /// Whose turn it is to run alone: first come, first served.
  alignas(machine::pad_bytes) ticket_lock turn;
};
extern shared_words shared;

}  // namespace txsync::inline TXSYNC_BACKEND::tm::detail
