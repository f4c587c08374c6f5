// SPDX-License-Identifier: Apache-2.0
// One thread's transactions: the engine that accesses see, and what is needed to run, restart, count and clean up.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/jump_target.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/tm/atomically.hpp>

#include "machine/call_start.hpp"
#include "observe/thread_block.hpp"
#include "speculate/thread_memory.hpp"
#include "tm/heap.hpp"
#include "tm/shared.hpp"
#include "tm/stripe_set.hpp"
#include "tm/write_set.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

class runner;
struct page_mark;
/// A transaction that was running when something was made unreachable.
struct seen_running {
  const runner* who;
  std::uint64_t activity;
};

/// A word of memory with the value that a transaction has read there.
struct seen_value {
  const word* cell;
  std::uint64_t value;
};

inline constexpr std::uint64_t no_timestamp = ~std::uint64_t{0};

/// Never destroyed: when its thread ends, another thread gets it.
class alignas(machine::pad_bytes) runner : public transaction_engine {
 public:
  /// The calling thread's runner. Throws std::bad_alloc.
  static runner& mine() { return my_runner != nullptr ? *my_runner : take(); }
  static runner* mine_if_any() noexcept { return my_runner; }
  /// The first of all runners, running or not.
  static runner* first() noexcept;
  /// Frees what ended threads have left in limbo, as far as no thread can be reading it.
  static void free_orphans() noexcept;
  runner* next() const noexcept { return next_; }
  /// For explorations, whose schedules must all begin in an equal state. `count` runners are ready that have run
  /// nothing, in the same order each time, with logs that need not grow. No word has a version that a new transaction
  /// cannot accept. Requires: all threads that have run blocks have ended.
  static void begin_anew(unsigned count);

  // Others read this: odd while the thread runs a transaction in software, and never decreasing.
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> activity{0};
  /// Whether the thread is counted in shared.announced. Any thread may take that away (hybrid/announcements.hpp).
  std::atomic<bool> is_announced{false};
  std::atomic<std::uint64_t> activity_seen{0};  ///< when another thread last looked whether this one is idle
  /// machine::fork_count() of the thread's process; updated in the child of a fork.
  std::atomic<std::uint32_t> born_in{0};

  // Others read this, too, under 2plsf, if they conflict with this thread.
  alignas(machine::pad_bytes) std::atomic<std::uint64_t> timestamp{no_timestamp};
  std::atomic<std::atomic<std::uint64_t>*> read_bits{nullptr};  ///< a bit for each orec: read by this transaction

  /// The last block, if it has left nothing that the next transaction has to look at. That one may then begin by
  /// run_quickly() (run.cpp). Null while the thread runs a transaction.
  alignas(machine::pad_bytes) const block* ready_for = nullptr;
  const algorithm* ready_by = nullptr;  ///< that begins so: dctl, or auto in software
  block* where = nullptr;
  /// What is counted of that block, at its site (observe/attempts.hpp). Written outside attempts.
  observe::speculation_counters* counts = nullptr;
  block* other_block = nullptr;  ///< the block that the thread ran before
  observe::speculation_counters* other_counts = nullptr;
  /// Under which the thread ran its last block that was not ready (run_otherwise()). Null: it has run none.
  const algorithm* ran_by = nullptr;
  std::uint64_t ran_by_words[2] = {};           ///< its name, for notes
  txsync::detail::timed_sections timed;         ///< of what runs in attempts
  machine::jump_target* alternative = nullptr;  ///< where the second body of or_else() begins
  std::uint32_t failures = 0;                   ///< aborted attempts of the transaction
  bool wants_irrevocable = false;
  bool is_marked = false;         ///< failures, or a wish, differ from what a transaction begins with
  std::uint32_t late_starts = 0;  ///< transactions of dctl that moved the clock when they started
  // When the gate may be biased (quiescence_gate.hpp).
  std::uint32_t until_look = 1;  ///< transactions
  std::uint32_t look_every = 1;
  std::uint64_t looked = 0;           ///< machine::cycles() of the last look
  std::uint64_t others_activity = 0;  ///< as seen at that look
  bool wants_log = false;             ///< it needs a log of its reads, although its block does not write
  bool wants_exact_log = false;       ///< and of no word that it has written; it then runs serially
  std::uint64_t sleeps_until = machine::no_deadline;  ///< of a retry() that the attempt has come to
  const orec* met = nullptr;  ///< the record that the last attempt found owned by another transaction
  std::uint64_t met_owner = 0;
  seen_running met_in{};             ///< that transaction, if it may never end
  bool met_must_end = false;         ///< the next attempt waits until that one has ended, however long it takes
  bool is_committing = false;        ///< it is counted in shared.committing
  std::uint32_t since_software = 0;  ///< blocks in hardware since the thread's last software transaction
  // For the algorithm `auto` (hybrid/path_choice.hpp).
  std::uint32_t until_timed = 1;  ///< blocks
  std::uint64_t probed = 0;       ///< machine::cycles() when a block last took the path that is not preferred
  std::uint64_t probe_interval = 0;
  std::uint64_t others_blocks = 0;  ///< activity_of_others()
  bool keeps_timestamp = false;     ///< from one attempt of 2plsf to the next

  // For dmp (partition/pages.hpp).
  std::atomic<page_mark*> page_marks{nullptr};  ///< by page; others read it
  growing_log<std::uint32_t> pages_read;
  growing_log<std::uint32_t> pages_written;
  std::uint32_t page_reads_by = 0;  ///< the number of the transaction, as in page_mark::read_by
  std::uint64_t seen_changes = 0;   ///< partitioned_heap::changes, at which its snapshot was valid
  std::uint64_t hidden_bound = 0;
  bool page_is_refused = false;  ///< attempts have not got the right that the last one wanted
  bool wants_alone = false;      ///< the block has to run without any other
  // Of scouts (partition/scout.hpp).
  bool wants_scout = false;  ///< the next software transaction of the block is one
  bool is_scout = false;
  bool has_scouted = false;                ///< a scout has ended, and the block tries the hardware again
  std::uint8_t scouts = 0;                 ///< of the block
  std::uint8_t silent_aborts = 0;          ///< attempts one after the other that aborted without a cause
  std::uint64_t seen_hardware_writes = 0;  ///< partitioned_heap::hardware_writes, at which the scout was valid

  direct_transaction directly{*this};

  // Of the block that runs.
  const erased_body* body = nullptr;
  void* data = nullptr;
  machine::call_start beginning;                  ///< where attempts begin
  machine::started_function begins_by = nullptr;  ///< run_quickly(), for the algorithm that the thread is ready for

  write_set writes;                ///< for algorithms that buffer them
  std::uint64_t start = 0;         ///< the clock at the start, if `bound` does not hold it: for norec and tl2
  growing_log<seen_value> values;  ///< read by norec's transaction
  stripe_set stripes;              ///< of what is slept for, or was written
  stripe_set awaited;              ///< of those written, what somebody sleeps for

  // What was destroyed and may still be read (memory.cpp).
  growing_log<heap_object> limbo;  ///< waits for the transactions in `running`
  growing_log<heap_object> next_limbo;
  growing_log<seen_running> running;
  free_slots slots;          ///< for objects that its blocks make
  std::size_t patience = 0;  ///< how many objects may wait before the thread itself waits

  /// The thread keeps the counts of the last two blocks.
  void begin_block(block& which) noexcept {
    if (where != &which) {
      observe::speculation_counters* const found = other_block == &which ? other_counts : counts_of(which);
      other_block = where;
      other_counts = counts;
      where = &which;
      counts = found;
    }
    if (is_marked) forget_marks();
  }
  /// Another algorithm is in use than for the thread's last block. Its next blocks note that at their sites.
  void begin_with(const algorithm& used) noexcept;
  /// For tools, at the site of the block that the thread has run: which path it takes, and why.
  void note_path() noexcept;
  /// For an assertion: whether the last transaction has left nothing.
  bool is_clean() const noexcept {
    return reads.empty() && undo.empty() && owned.empty() && !has_extras && !is_marked && in_place == engine::mine;
  }
  void forget_marks() noexcept {
    failures = 0;
    wants_irrevocable = false;
    wants_log = false;
    wants_exact_log = false;
    wants_alone = false;
    page_is_refused = false;
    wants_scout = false;
    scouts = silent_aborts = 0;
    sleeps_until = machine::no_deadline;
    met = nullptr;
    is_marked = false;
  }
  void note_refused_page() noexcept { page_is_refused = is_marked = true; }
  bool is_irrevocable() const noexcept { return wants_irrevocable || where->policy().irrevocable; }
  bool goes_by_itself() const noexcept {
    return is_irrevocable() || failures >= where->policy().attempts || wants_exact_log || wants_alone;
  }
  log_mark mark() const noexcept {
    return {undo.size(), writes.size(),         writes.replaced(),   made.size(),
            gone.size(), commit_actions.size(), abort_actions.size()};
  }

 private:
  [[gnu::tls_model("initial-exec")]] static constinit thread_local runner* my_runner;
  runner() noexcept { clock = &shared.clock; }
  static runner& take();
  static runner& make();
  void make_as_new();
  static void forget_other_threads() noexcept;
  static void note_orphans(const runner& left) noexcept;
  /// The calling thread's counters.
  observe::speculation_counters* counts_of(block& which) noexcept;
  void note_path(observe::speculation_counters& at, block& which) const noexcept;
  void forget_blocks() noexcept;
  observe::speculation_counters uncounted_;  ///< written if a site is not counted; no snapshot has it
  runner* next_ = nullptr;                   ///< of all runners
  runner* next_free_ = nullptr;              ///< of those that belong to no thread
};

inline runner& runner_of(engine& me) noexcept { return static_cast<runner&>(me); }

/// False: its thread was left behind by a fork.
inline bool lives(const runner& who) noexcept {
  return who.born_in.load(std::memory_order_relaxed) == machine::fork_count();  // relaxed: as in take()
}

// memory.cpp
/// Memory for an object outside of blocks; free_unshared() frees it. Throws std::bad_alloc.
void* take_unshared(runner& me, std::size_t bytes, unsigned memory_class);
/// The objects that the transaction has made after the first `from` ones are given up. They are freed when the attempt
/// ends. Until then norec checks what it has read of them, and what was written to them may have to be restored.
void give_up_made(runner& me, std::size_t from) noexcept;
/// After the attempt was undone: frees all of them.
void drop_made(runner& me) noexcept;
/// After a commit: frees those that were given up.
void keep_all_made(runner& me) noexcept;
/// Resets what the transaction has made, destroyed, deferred or privatized.
inline void clear_extras(runner& me) noexcept {
  if (!me.has_extras) [[likely]]
    return;
  me.made.clear();
  me.gone.clear();
  me.commit_actions.clear();
  me.abort_actions.clear();
  me.privatizes = false;
  me.gives_up_objects = false;
  me.has_extras = false;
}
/// After a commit.
void bury_gone(runner& me) noexcept;
/// At the thread's end: frees what can be freed then.
void empty_limbo(runner& me) noexcept;

// stm/two_phase.cpp
/// Makes the runner's read bits. Otherwise its first read in a transaction of 2plsf makes them.
void make_read_bits(runner& me);

// sleep.cpp
/// Abandons the attempt, and returns when something that it has read may have changed, or at the deadline (of
/// machine::clock_ns()). Requires: all its reads are logged.
void sleep_until_changed(runner& me, std::uint64_t deadline) noexcept;
/// Whether anyone may sleep for one of the words that an undo log has.
bool is_waited_for(const growing_log<old_value>& undo) noexcept;
void wake_sleepers(runner& me) noexcept;
/// In the child of a fork.
void forget_sleepers() noexcept;
/// For explorations: how many sleepers are counted that may wait for the word. 0: none.
std::uint64_t count_sleepers_of(const word& cell) noexcept;

// run.cpp
/// As if the attempt had never been; the thread runs none any more.
void abandon(runner& me) noexcept;
/// Undoes the attempt and begins the next one.
[[noreturn]] void restart(engine& me, abort_cause why);
/// The same, without a count of it and a wait before it.
[[noreturn]] void run_anew(engine& me);
/// Reports it to tools, outside the attempt. Functions, so that the surrounding code uses no registers for it.
void report_abort(const runner& me, abort_cause why) noexcept;
void report_fallback(const runner& me, abort_cause why) noexcept;
[[noreturn]] void refuse(const char* why) noexcept;
/// Ends the program if the thread runs no transaction.
inline void require_block(const engine& me) noexcept {
  if (me.mode == run_mode::idle) [[unlikely]]
    refuse_outside();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
