// SPDX-License-Identifier: Apache-2.0
// Named atomic blocks: the sites of transactions.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/machine/abort_cause.hpp>
#include <txsync/site.hpp>

namespace txsync::inline TXSYNC_BACKEND::tm {

/// How the transactions of a block are tried.
struct block_policy {
  /// After so many aborts a transaction waits for its turn to run alone, and then commits: the bound on starvation. Its
  /// turn comes when the transactions that are running have ended, and after those of the threads that asked before it:
  /// in that order while no more wait than there are CPUs. Where more do, with T threads, up to
  /// ticket_lock::bypass_bound(T) turns of others, T * (32,768 + T), may come first.
  std::uint32_t attempts = 32;
  /// Attempts in hardware before that, by htm_sgl_adaptive; 0: none, by htm_sgl too, which otherwise makes ten.
  std::uint32_t hardware_attempts = 5;
  /// Run alone and once, not to be undone: for blocks that do I/O always. See transaction::irrevocable(), which such a
  /// block calls for the outer one where it stands within another.
  bool irrevocable = false;
};

/// A named place in the program whose code runs atomically; any number of threads run it at a time. What is counted and
/// learnt is kept by block, so give blocks that do different things objects of their own.
///
///     constinit txsync::tm::block transfer{"bank.transfer"};
///
/// Requires: what site requires: static storage duration and a name that lives as long (a literal), in a module that
/// stays loaded. Constant-initialised. Thread-safe.
class block {
 public:
  constexpr explicit block(const char* name, const block_policy& policy = {}) noexcept : site_(name), policy_(policy) {}
  block(const block&) = delete;
  block& operator=(const block&) = delete;

  const char* name() const noexcept { return site_.name(); }
  const block_policy& policy() const noexcept { return policy_; }
  std::uint32_t id() noexcept { return site_.id(); }
  /// Where its transactions are counted: observe::snapshot() has them under the block's name.
  site& place() noexcept { return site_; }

  /// Whether its transactions start without a record of what they read, since none of them has written yet. Relaxed: a
  /// thread that is wrong about it does one attempt more.
  bool only_reads() const noexcept { return !writes_.load(std::memory_order_relaxed); }
  /// Called by the first transaction that writes.
  void now_writes() noexcept { writes_.store(true, std::memory_order_relaxed); }
  /// For explorations, between two of them: as if none had run.
  void forget() noexcept { writes_.store(false, std::memory_order_relaxed); }

 private:
  site site_;
  block_policy policy_;
  std::atomic<bool> writes_{false};
};

/// The counts of one block over all threads since the start of the process, those that have ended included, in hardware
/// and in software together; observe::site_totals has them apart. All zero where the block's site is not counted.
struct block_totals {
  std::uint64_t commits = 0;
  std::uint64_t alone = 0;                       ///< of them, those that had to run alone, and irrevocable ones
  std::uint64_t hardware = 0;                    ///< of them, those in hardware
  std::uint64_t waits = 0;                       ///< times that transaction::retry() slept
  std::uint64_t aborts[abort_cause_count] = {};  ///< by cause: in software validation, locked, lock-busy or user; in
                                                 ///< hardware the machine's
};

/// Runs beside transactions; each number is one that was true within the call.
TXSYNC_EXPORT block_totals totals(block& where) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::tm
