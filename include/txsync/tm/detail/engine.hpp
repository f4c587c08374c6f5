// SPDX-License-Identifier: Apache-2.0
// The state of one thread's transactions, shared by the inlined half of a transaction and the algorithms in src/tm.
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

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

/// An ownership record, for the words of one or more stripes of memory. It holds the version of their last commit. With
/// owned_bit, it holds the engine of the transaction that is changing them.
using orec = std::atomic<std::uint64_t>;
inline constexpr std::uint64_t owned_bit = std::uint64_t{1} << 63;

/// The table of these records: 8 MiB, touched as it is used. The address of a word selects its record, by stripes of 32
/// bytes.
inline constexpr unsigned stripe_shift = 5;
inline constexpr std::uint64_t record_count = std::uint64_t{1} << 20;
/// All records are zero. The union keeps the compiler from looking at each of them.
union zeroed_records {
  constexpr zeroed_records() noexcept : nothing(0) {}
  char nothing;
  orec all[record_count];
};
TXSYNC_EXPORT extern zeroed_records records;

/// An address that stands for the order of blocks, for a race detector of the program that the library was compiled
/// without. What a block reads comes after all blocks that have begun to commit (order_before_blocks()). No value is
/// stored there.
inline const void* order_of_blocks() noexcept { return &records.nothing + 1; }

class engine;

/// How much a transaction has recorded: a point to roll back to.
struct log_mark {
  std::size_t undo;                ///< for algorithms that store in place
  std::size_t buffered, replaced;  ///< for the other algorithms
  std::size_t made, gone, on_commit, on_abort;
};

/// A word of memory, and its former value.
struct old_value {
  word* cell;
  std::uint64_t value;
};
struct owned_orec {
  orec* record;
  std::uint64_t version;  ///< the version that it had
};
/// A heap object, and its destructor if that does anything.
struct heap_object {
  void* object;
  void (*destroy)(void* object) noexcept;
};

/// An object that the transaction itself has made.
struct made_object {
  heap_object what;
  /// Whether it was given up, by an alternative that ended with retry() or by a constructor that threw. Its memory
  /// stays until the attempt ends, because the attempt's logs may name its words.
  bool given_up;
};

/// Stripes of memory, as bits of a hash of their addresses.
class stripe_set;

/// How an algorithm's hardware attempts keep order with its software transactions (src/tm/hybrid).
struct hardware_half {
  /// Before each attempt, outside of it.
  void (*prepare)(engine& me) noexcept;
  /// In the attempt, before the body. Reads what aborts the attempt if software changes it later, and sets what
  /// accesses do. It may abort the attempt.
  void (*begin)(engine& me) noexcept;
  /// In the attempt, after the body: its last step.
  void (*end)(engine& me) noexcept;
  /// Outside attempts: false if the block has to go on in software instead of by a further attempt. Null: never.
  bool (*may_try)(const engine& me) noexcept = nullptr;
  /// After an attempt that aborted for that reason: whether the block first needs a scout (partition/scout.hpp). Null: it
  /// never does.
  bool (*needs_scout)(engine& me, abort_cause why) noexcept = nullptr;
};

/// What an access in a hardware attempt does beside the plain load or store. Bits of engine::duties.
enum attempt_duty : std::uint8_t {
  checks_reads = 1,    ///< a read aborts the attempt if a software transaction owns the word's record
  marks_writes = 2,    ///< a write gives the record a new version, or aborts the attempt likewise
  notes_writes = 4,    ///< the attempt says at its end whether it has written
  notes_stripes = 8,   ///< a write is noted for sleepers (direct_writes)
  by_second_view = 16  ///< words are accessed by their second addresses; one that has none ends the attempt
};

/// Memory that is mapped twice (dmp). Pointers are always first addresses.
struct two_views {
  std::uintptr_t begin = 0;
  std::uintptr_t bytes = 0;
  std::uintptr_t distance = 0;  ///< from a first address to the second one
};

/// What a hardware attempt or an irrevocable block has written, for those that sleep in retry().
struct direct_writes {
  static constexpr std::uint32_t max = 31;
  std::uint32_t count = max + 1;  ///< more than max: it was not noted, or was too much
  std::uint32_t stripes[max];     ///< indices of their records

  void begin(bool notes) noexcept { count = notes ? 0 : max + 1; }
  void note(std::uint64_t index) noexcept {
    const auto stripe = static_cast<std::uint32_t>(index);
    if (count > max || (count != 0 && stripes[count - 1] == stripe)) return;
    if (count < max) stripes[count] = stripe;
    ++count;
  }
};

/// An algorithm that runs transactions. The thread that the engine belongs to calls its functions.
struct algorithm {
  const char* name;
  const char* summary;
  /// Before the first access of an attempt. Sets which words are read by the inlined path, and up to which version.
  void (*begin)(engine& me);
  /// Reads and writes that the inlined path does not decide. `record` is that of the word.
  std::uint64_t (*read)(engine& me, const word& cell, orec& record);
  void (*write)(engine& me, word& cell, orec& record, std::uint64_t value);
  /// If it returns, the attempt has committed; if the commit fails, it does not return, and the attempt is restarted.
  /// True: the attempt has written something.
  bool (*commit)(engine& me);
  /// Undoes everything that the attempt has written.
  void (*roll_back)(engine& me) noexcept;
  /// Undoes what it has written since `mark`, while it goes on.
  void (*roll_back_to)(engine& me, const log_mark& mark) noexcept;
  /// Whether all that the attempt has read is still valid. Null: no other thread can have changed what it has read.
  bool (*is_valid)(engine& me) noexcept;
  /// Adds what the attempt has read, for transactions that wait.
  void (*add_reads)(engine& me, stripe_set& into) noexcept;
  /// Adds what it has written.
  void (*add_writes)(engine& me, stripe_set& into) noexcept;
  /// What its hardware attempts do. Null: it makes none.
  const hardware_half* in_hardware = nullptr;
  /// Software transactions run beside attempts that write. Attempts change words and records together, without a move of
  /// the clock.
  bool beside_hardware = false;
  /// The number of hardware attempts, whatever the causes of their aborts. 0: as the block's policy and the causes say.
  std::uint32_t hardware_tries = 0;
  /// After them the block runs without any other, instead of in software.
  bool alone_after_attempts = false;
  /// It needs the heap whose pages are divided (tm/heap.hpp).
  bool divides_memory = false;
  /// What runs in its place where the hardware makes no attempts. Null: itself.
  const algorithm* without_attempts = nullptr;
};

enum class run_mode : std::uint8_t {
  idle,
  software,     ///< by an algorithm, concurrently with others
  serial,       ///< no other block runs; can still be undone
  irrevocable,  ///< serial, and cannot be undone
  hardware      ///< in a hardware attempt
};

class engine {
 public:
  // What each access reads.
  /// The inlined path reads words whose orec has a version below this. 0: it reads none. The thread itself sets it. But
  /// a thread that waits for the transaction's end may set it to 0 at any time; reads then take the long path.
  std::uint64_t bound() const noexcept { return bound_.load(std::memory_order_relaxed); }  // relaxed: a limit, or 0
  void set_bound(std::uint64_t to) noexcept { bound_.store(to, std::memory_order_relaxed); }
  /// The inlined path writes words whose orec holds this value: `mine` for algorithms that store in place, otherwise
  /// `nobody`.
  std::uint64_t in_place = nobody;
  std::uint64_t mine = 0;     ///< the value of the orecs that the transaction owns
  bool logs_reads = false;    ///< reads are recorded
  bool has_unlogged = false;  ///< some reads were not recorded, or may not have been
  run_mode mode = run_mode::idle;
  const algorithm* how = nullptr;
  growing_log<orec*> reads;
  growing_log<old_value> undo;

  growing_log<owned_orec> owned;

  // Of a hardware attempt.
  std::uint8_t duties = 0;            ///< what its accesses do: attempt_duty
  bool has_written_directly = false;  ///< known only with a duty of writes
  std::uint8_t lead = 0;              ///< by how much its versions are ahead of the clock
  std::uint64_t mark = 0;             ///< the version of the words that it writes; 0: it has marked none
  const std::atomic<std::uint64_t>* clock = nullptr;  ///< the version clock
  two_views view;                                     ///< for by_second_view
  direct_writes written;

  // What few transactions use.
  bool has_extras = false;  ///< one of these logs is not empty, or the next member is true
  bool privatizes = false;
  bool gives_up_objects = false;  ///< it gives up objects that it has made
  growing_log<made_object> made;
  growing_log<heap_object> gone;
  growing_log<txsync::detail::deferred_action> commit_actions;
  growing_log<txsync::detail::deferred_action> abort_actions;

  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  /// The bound of a serial transaction, which does not look at orecs.
  static constexpr std::uint64_t every_version = owned_bit;
  /// Cheaper than a comparison with it; other bounds do not have that bit.
  static bool admits_every_version(std::uint64_t limit) noexcept { return (limit & every_version) != 0; }

  /// The orec of a word: that of its stripe.
  [[gnu::always_inline]] static std::uint64_t index_of(const word& cell) noexcept {
    return (reinterpret_cast<std::uintptr_t>(&cell) >> stripe_shift) % record_count;
  }
  [[gnu::always_inline]] static orec& orec_of(const word& cell) noexcept { return records.all[index_of(cell)]; }

  [[gnu::always_inline]] std::uint64_t read_word(const word& cell) {
    const std::uint64_t value = read_unannotated(cell);
    machine::annotate_acquire(order_of_blocks());
    return value;
  }
  [[gnu::always_inline]] std::uint64_t read_unannotated(const word& cell) {
    const std::uint64_t limit = bound();
    if (admits_every_version(limit)) [[unlikely]]
      return cell.load(std::memory_order_relaxed);  // a word that only this thread may write
    orec& record = orec_of(cell);
    const std::uint64_t seen = record.load(std::memory_order_seq_cst);
    // acquire pairs with the release in store_in_place(): a thread that sees such a value also sees its transaction's
    // mark in the orec below
    const std::uint64_t value = cell.load(std::memory_order_acquire);
    // relaxed: it follows an acquire load, which later accesses do not pass
    if (seen < limit && record.load(std::memory_order_relaxed) == seen) [[likely]] {
      note_read(record);
      return value;
    }
    return how->read(*this, cell, record);
  }
  [[gnu::always_inline]] void write_word(word& cell, std::uint64_t value) {
    orec& record = orec_of(cell);
    // relaxed: no other thread stores a value that makes this true
    if (admits_every_version(bound()) || record.load(std::memory_order_relaxed) == in_place) {
      store_in_place(cell, value);
    } else {
      how->write(*this, cell, record, value);
    }
  }
  [[gnu::always_inline]] void note_read(orec& record) {
    if (!logs_reads) {
      has_unlogged = true;
    } else if (reads.empty() || *(reads.end() - 1) != &record) {  // fields of one object are often read in a row
      reads.append(&record);
    }
  }
  /// Requires: the transaction owns the word's orec, or is serial.
  [[gnu::always_inline]] void store_in_place(word& cell, std::uint64_t value) {
    // relaxed: a word that only this thread may write
    undo.append({&cell, cell.load(std::memory_order_relaxed)});
    cell.store(value, std::memory_order_release);  // pairs with the acquire in read_word()
  }

  /// A read by a hardware attempt that has a duty of reads. If it checks records, the attempt aborts from here on if a
  /// transaction owns the record.
  std::uint64_t read_checked(const word& cell) {
    if ((duties & by_second_view) != 0) return second_address_of(cell)->load(std::memory_order_relaxed);  // an attempt
    abort_if_owned(orec_of(cell));
    // acquire pairs with the release in store_in_place() and write_set::store_all(): the transaction that wrote it may
    // have committed after the attempt began
    return cell.load(std::memory_order_acquire);
  }
  /// A write by a hardware attempt that has duties, or by an irrevocable block.
  void write_noted(word& cell, std::uint64_t value) {
    has_written_directly = true;
    if ((duties & notes_stripes) != 0) written.note(index_of(cell));
    if ((duties & by_second_view) != 0) return machine::store_in_attempt(*second_address_of(cell), value);
    if ((duties & marks_writes) != 0) mark_direct_write(cell);
    machine::store_in_attempt(cell, value);
  }
  void forget_attempt() noexcept {
    duties = 0;
    has_written_directly = false;
    mark = 0;
  }

 private:
  /// In an attempt.
  template <class Word>
  Word* second_address_of(Word& cell) const {
    const auto at = reinterpret_cast<std::uintptr_t>(&cell);
    if (at - view.begin >= view.bytes) [[unlikely]]
      machine::abort<machine::attempt_status::code_alone>();
    return reinterpret_cast<Word*>(at + view.distance);
  }
  void mark_direct_write(const word& cell) {
    orec& record = orec_of(cell);
    const std::uint64_t seen = abort_if_owned(record);
    // relaxed: in the attempt, which aborts if the clock moves
    if (mark == 0) mark = clock->load(std::memory_order_relaxed) + lead;
    if (seen != mark) machine::store_in_attempt(record, mark);
  }
  static std::uint64_t abort_if_owned(const orec& record) {
    const std::uint64_t seen = record.load(std::memory_order_relaxed);  // relaxed: in an attempt
    if ((seen & owned_bit) != 0) machine::abort<machine::attempt_status::code_owned>();
    return seen;
  }
  std::atomic<std::uint64_t> bound_{0};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
