// SPDX-License-Identifier: Apache-2.0
// The state of one thread's transactions: what the inlined half of a transaction and the algorithms in src/tm share.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/machine/abort_cause.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/speculate/elision.hpp>
#include <txsync/tm/block.hpp>
#include <txsync/tm/detail/growing_log.hpp>
#include <txsync/tm/var.hpp>

namespace txsync::inline TXSYNC_BACKEND::tm::detail {

/// An ownership record: of the words of one or more stripes of memory, the version of their last commit; or, with
/// owned_bit, the engine of the transaction that is changing them.
using orec = std::atomic<std::uint64_t>;
inline constexpr std::uint64_t owned_bit = std::uint64_t{1} << 63;

/// The table of them: 8 MiB, touched as it is used. The address of a word gives its record: stripes of 32 bytes.
inline constexpr unsigned stripe_shift = 5;
inline constexpr std::uint64_t record_count = std::uint64_t{1} << 20;
/// All zero, without the compiler looking at each.
union zeroed_records {
  constexpr zeroed_records() noexcept : nothing(0) {}
  char nothing;
  orec all[record_count];
};
TXSYNC_EXPORT extern zeroed_records records;

/// By this a race detector of the program's, which the library was compiled without, knows the order of blocks: what is
/// read in one comes behind all that have begun to commit (order_before_blocks()). No value is there.
inline const void* order_of_blocks() noexcept { return &records.nothing + 1; }

class engine;

/// How much a transaction has written down, to be taken back to.
struct log_mark {
  std::size_t undo;                ///< of algorithms that store in place
  std::size_t buffered, replaced;  ///< and of the others
  std::size_t made, gone, on_commit, on_abort;
};

/// A word of memory with the value that it had.
struct old_value {
  word* cell;
  std::uint64_t value;
};
struct owned_orec {
  orec* record;
  std::uint64_t version;  ///< that it had
};
/// An object of the heap, and its destructor where that does anything.
struct heap_object {
  void* object;
  void (*destroy)(void* object) noexcept;
};

/// An object that the transaction itself has made.
struct made_object {
  heap_object what;
  /// By an alternative that ended with retry(), or by a constructor that threw. It lies there until the attempt ends,
  /// whose logs may speak of its words.
  bool given_up;
};

/// Stripes of memory, as bits of a hash of their addresses.
class stripe_set;

/// One way to run transactions. Functions are called by the thread that the engine belongs to.
struct algorithm {
  const char* name;
  const char* summary;
  /// Before the first access of an attempt; sets where and by what limit words are read in the inlined way.
  void (*begin)(engine& me);
  /// What the inlined way does not decide.
  std::uint64_t (*read)(engine& me, const word& cell);
  void (*write)(engine& me, word& cell, std::uint64_t value);
  /// Either the attempt is committed when it returns, or it is restarted. True: it has written something.
  bool (*commit)(engine& me);
  /// Everything that the attempt has written is gone again.
  void (*roll_back)(engine& me) noexcept;
  /// What it has written after that, while it goes on.
  void (*roll_back_to)(engine& me, const log_mark& mark) noexcept;
  /// Whether all that the attempt has read is still so. Null: nobody else can have changed it.
  bool (*is_valid)(engine& me) noexcept;
  /// Adds what the attempt has read, for transactions that wait; null: it keeps no record.
  void (*add_reads)(engine& me, stripe_set& into) noexcept;
  /// Adds what it has written.
  void (*add_writes)(engine& me, stripe_set& into) noexcept;
  bool in_hardware = false;  ///< attempts of the machine first
  /// So many of them, whatever the causes of their aborts; 0: as the block's policy and the causes say.
  std::uint32_t hardware_tries = 0;
};

enum class run_mode : std::uint8_t {
  idle,
  software,     ///< by an algorithm, beside others
  alone,        ///< nobody else runs; can still be undone
  irrevocable,  ///< nobody else runs; cannot
  hardware      ///< in an attempt of the machine
};

class engine {
 public:
  // What each access looks at.
  /// Words whose orec has a version below it are read in the inlined way. 0: none is. Of the thread's own, but that a
  /// thread that waits for the transaction's end may set it to 0 at any time, from which on reads go the long way.
  std::uint64_t bound() const noexcept { return bound_.load(std::memory_order_relaxed); }  // relaxed: a limit, or 0
  void set_bound(std::uint64_t to) noexcept { bound_.store(to, std::memory_order_relaxed); }
  /// What orecs hold whose words are written in the inlined way: `mine` of algorithms that store in place, or nobody.
  std::uint64_t in_place = nobody;
  std::uint64_t mine = 0;     ///< what the orecs hold that the transaction owns
  bool logs_reads = false;    ///< reads are written down
  bool has_unlogged = false;  ///< some were not, or may not have been
  run_mode mode = run_mode::idle;
  const algorithm* how = nullptr;
  growing_log<orec*> reads;
  growing_log<old_value> undo;

  growing_log<owned_orec> owned;

  // What few transactions do.
  bool has_extras = false;  ///< one of these is not empty, or the next is true
  bool privatizes = false;
  bool gives_up_objects = false;  ///< some of those that it has made
  growing_log<made_object> made;
  growing_log<heap_object> gone;
  growing_log<txsync::detail::deferred_action> commit_actions;
  growing_log<txsync::detail::deferred_action> abort_actions;

  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  /// The bound of a transaction that is alone: orecs are not looked at.
  static constexpr std::uint64_t every_version = owned_bit;

  /// The orec of a word.
  [[gnu::always_inline]] static orec& orec_of(const word& cell) noexcept {
    return records.all[(reinterpret_cast<std::uintptr_t>(&cell) >> stripe_shift) % record_count];
  }

  [[gnu::always_inline]] std::uint64_t read_word(const word& cell) {
    const std::uint64_t value = read_unannotated(cell);
    machine::annotate_acquire(order_of_blocks());
    return value;
  }
  [[gnu::always_inline]] std::uint64_t read_unannotated(const word& cell) {
    const std::uint64_t limit = bound();
    if (limit == every_version) return cell.load(std::memory_order_relaxed);  // a word that only this thread may write
    orec& record = orec_of(cell);
    const std::uint64_t seen = record.load(std::memory_order_seq_cst);
    // acquire pairs with the release of a store in place: who sees what a transaction has written in place sees its
    // mark in the orec below
    const std::uint64_t value = cell.load(std::memory_order_acquire);
    // relaxed: behind an acquire load, which nothing after it passes
    if (seen < limit && record.load(std::memory_order_relaxed) == seen) [[likely]] {
      note_read(record);
      return value;
    }
    return how->read(*this, cell);
  }
  [[gnu::always_inline]] void write_word(word& cell, std::uint64_t value) {
    // relaxed: nobody else writes what would make this true
    if (bound() == every_version || orec_of(cell).load(std::memory_order_relaxed) == in_place) {
      store_in_place(cell, value);
    } else {
      how->write(*this, cell, value);
    }
  }
  [[gnu::always_inline]] void note_read(orec& record) {
    if (!logs_reads) {
      has_unlogged = true;
    } else if (reads.empty() || *(reads.end() - 1) != &record) {  // fields of one object are often read in a row
      reads.append(&record);
    }
  }
  /// Requires: the transaction owns the word's orec, or is alone.
  [[gnu::always_inline]] void store_in_place(word& cell, std::uint64_t value) {
    // relaxed: a word that only this thread may write
    undo.append({&cell, cell.load(std::memory_order_relaxed)});
    cell.store(value, std::memory_order_release);  // pairs with the acquire in read_word()
  }

 private:
  std::atomic<std::uint64_t> bound_{0};
};

}  // namespace txsync::inline TXSYNC_BACKEND::tm::detail
