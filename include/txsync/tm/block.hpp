// SPDX-License-Identifier: Apache-2.0
// Named atomic blocks: the sites of transactions.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/machine/abort_cause.hpp>
#include <txsync/observe/attempts.hpp>
#include <txsync/site.hpp>
#include <txsync/tm/detail/path_costs.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

/// How a block is tried.
struct block_policy {
  /// After this many aborts a block waits for its turn to run serially, and then commits: the bound on starvation. Its
  /// turn comes when the running blocks have ended, after those of threads that asked before it. Turns keep that order
  /// while no more threads wait than there are CPUs. With more, and T threads, up to ticket_lock::bypass_bound(T) turns
  /// of others, T * (32,768 + T), may come first.
  std::uint32_t attempts = 32;
  /// Attempts in hardware before that, with the algorithms auto, hydctl and htm_sgl_adaptive. An abort that says that
  /// another attempt would not help ends them sooner. If nearly all transactions of the block commit in hardware, the
  /// second such abort does. The other algorithms with hardware attempts make ten, whatever the causes. 0: none, with any
  /// algorithm.
  std::uint32_t hardware_attempts = 5;
  /// Runs serially and once, and cannot be undone: for blocks that always do I/O. If it stands within another block, it
  /// calls transaction::irrevocable() for the outer one.
  bool irrevocable = false;
  /// Where objects lie that the block makes, if there is a heap (tm/heap.hpp): those of different classes share no page.
  /// 0..7; of larger numbers, the remainder.
  std::uint8_t memory_class = 0;
};

/// A named atomic block: a place in the program whose code runs atomically. Any number of threads run it at a time.
/// Counts, and what is learnt, are kept for each block. So use separate objects for blocks that do different things.
///
///     constinit txsync::tm::block transfer{"bank.transfer"};
///
/// Requires: as site: static storage duration; a name that lives as long (a literal); a module that is not unloaded.
/// Constant-initialised. Thread-safe.
class block {
 public:
  constexpr explicit block(const char* name, const block_policy& policy = {}) noexcept : site_(name), policy_(policy) {}
  block(const block&) = delete;
  block& operator=(const block&) = delete;

  const char* name() const noexcept { return site_.name(); }
  const block_policy& policy() const noexcept { return policy_; }
  std::uint32_t id() noexcept { return site_.id(); }
  /// The site at which it is counted: observe::snapshot() has it under the block's name.
  site& get_site() noexcept { return site_; }
  [[deprecated("get_site")]] site& place() noexcept { return get_site(); }

  /// Whether its transactions start without a record of their reads, because none of them has written yet. Relaxed: a
  /// thread that reads an old value makes one attempt more.
  bool only_reads() const noexcept { return !has_written(); }
  bool has_written() const noexcept { return (learnt() & writes) != 0; }
  /// Called by the first transaction that writes.
  void now_writes() noexcept { learn(learnt() | writes); }
  /// Whether its transactions of dctl move the clock when they start. What two threads learn at one moment may be lost,
  /// and is learnt again.
  void start_late(bool late) noexcept { learn(late ? learnt() | starts_late : learnt() & ~unsigned{starts_late}); }
  enum facts : std::uint8_t { writes = 1, starts_late = 2 };
  unsigned learnt() const noexcept { return learnt_.load(std::memory_order_relaxed); }
  /// For explorations, between two of them: resets the block, as if it had never run.
  void forget() noexcept {
    learn(0);
    costs_.forget();
  }
  /// For the library; path_of() reads it.
  detail::path_costs& costs() noexcept { return costs_; }

 private:
  void learn(unsigned all) noexcept { learnt_.store(static_cast<std::uint8_t>(all), std::memory_order_relaxed); }

  site site_;
  block_policy policy_;
  std::atomic<std::uint8_t> learnt_{0};
  detail::path_costs costs_;
};

/// Which path a block first tries now, and why. Zeros: `auto` has not timed that path yet, or another algorithm is in
/// use. If `auto` has left a path because it took longer, the cycles are those of that time.
struct block_path {
  bool in_hardware = false;    ///< blocks try the hardware first
  double hardware_cycles = 0;  ///< machine::cycles() of a block that does, its aborts and software included
  double software_cycles = 0;  ///< of a block that runs in software from the start
  observe::path_reason why = observe::path_reason::by_algorithm;
};
TXSYNC_EXPORT block_path path_of(block& where) noexcept;

/// The counts of one block over all threads since the start of the process, including threads that have ended. Hardware
/// and software are counted together; observe::site_totals has them apart. All are zero if the block's site is not
/// counted.
struct block_totals {
  std::uint64_t commits = 0;
  std::uint64_t alone = 0;     ///< of them, those that ran serially, and irrevocable ones
  std::uint64_t hardware = 0;  ///< of them, those in hardware
  std::uint64_t waits = 0;     ///< times that transaction::retry() slept
  /// By cause: in software `validation`, `locked`, `lock-busy` or `user`; in hardware those of the machine.
  std::uint64_t aborts[abort_cause_count] = {};
};

/// It runs concurrently with blocks: each number was true at some moment during the call.
TXSYNC_EXPORT block_totals totals(block& where) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm
