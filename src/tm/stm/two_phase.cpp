// SPDX-License-Identifier: Apache-2.0
// 2plsf: two-phase locking, starvation-free (Ramalhete, Correia and Felber, "2PLSF: Two-Phase Locking with
// Starvation-Freedom", PPoPP 2023). Every stripe that is read or written is locked, and all locks are held to the end.
// Writes go in place, with an undo log. There is no clock, and nothing is checked at the commit.
//
// A lock is an orec, which its writer owns, and a bit in each thread's own memory, which the thread sets while it
// reads. Readers write no line that other readers write. A writer reads the bits of all threads.
//
// Conflicts: a transaction takes a timestamp at its first one, and keeps it until it ends. It waits for transactions
// that are younger or have none. For an older one it restarts, once that one has ended, however long that takes. So
// waiting goes from old to young only, and there is no circle of waiters.
//
// The bound on restarts: with T threads, T - 1 for each transaction. When it took its timestamp, each other thread was
// running at most one transaction with an older one. What they begin later is younger. Each of the older ones can make
// it restart once, since that one has ended before the next attempt begins. (A transaction that waits in retry(), or is
// to be irrevocable, begins anew.)
#include <new>
#include <txsync/machine/asymmetric.hpp>
#include <txsync/machine/memory.hpp>

#include "locks/backoff.hpp"
#include "tm/stm/orecs.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

using bits = std::atomic<std::uint64_t>;

constexpr std::uint64_t min_wait_cycles = 32;  // cycles
alignas(machine::pad_bytes) constinit std::atomic<std::uint64_t> next_timestamp{0};

/// Where a thread says that it reads under an orec.
struct reader_bit {
  std::size_t index;
  std::uint64_t mask;
  explicit reader_bit(const orec& record) noexcept
      : index(static_cast<std::size_t>(&record - records.all) / 64),
        mask(std::uint64_t{1} << (&record - records.all) % 64) {}
};

/// The type of mapped memory, which is zero and is not touched here.
union zeroed_bits {
  zeroed_bits() noexcept : nothing(0) {}
  char nothing;
  bits all[record_count / 64];
};

/// Never given back: the runner is not either.
[[gnu::noinline]] bits* make_bits(runner& me) {
  void* const memory = machine::map_pages(sizeof(zeroed_bits));
  if (memory == nullptr) throw std::bad_alloc();
  bits* const made = (new (memory) zeroed_bits)->all;
  me.read_bits.store(made, std::memory_order_release);  // pairs with the acquire in wait_for_readers()
  // Pairs with the light fence there: a writer that does not see these bits has taken its orec before this thread
  // looks.
  machine::heavy_fence();
  return made;
}

bits* bits_of(runner& me) {
  bits* const found = me.read_bits.load(std::memory_order_relaxed);  // written only by this thread
  return found != nullptr ? found : make_bits(me);
}

void wait_or_die(runner& me, const runner& other, txsync::detail::patient_spin& waiting) {
  refuse_if_left_behind(other);
  // relaxed: written only by this thread
  std::uint64_t mine = me.timestamp.load(std::memory_order_relaxed);
  if (mine == no_timestamp) {
    mine = next_timestamp.fetch_add(1);
    me.timestamp.store(mine, std::memory_order_relaxed);
  }
  // relaxed, also where they are stored: they guard nothing. A thread that sees an old one waits another turn. Or it
  // restarts for a transaction that has just ended, which can happen once for each.
  const std::uint64_t theirs = other.timestamp.load(std::memory_order_relaxed);
  if (theirs < mine) {
    me.met = &other.timestamp;
    me.met_owner = theirs;
    me.met_must_end = true;
    me.keeps_timestamp = true;
    restart(me, abort_cause::locked);
  }
  waiting.wait(min_wait_cycles);
}

void lock_for_reading(runner& me, const orec& record, bits& where, std::uint64_t mask) {
  me.reads.append(const_cast<orec*>(&record));  // NOLINT(cppcoreguidelines-pro-type-const-cast): the log's type
  // Sequentially consistent, as is the load of the orec. A reader sets its bit and then reads the orec; a writer takes
  // the orec and then reads the bits. One of them sees the other. A store would be enough, and costs the same on x86,
  // which makes an exchange of it. But emulators let a later load pass the store that AArch64 uses for it.
  where.fetch_or(mask);
  txsync::detail::patient_spin waiting;
  for (;;) {
    const std::uint64_t seen = record.load();
    if (!is_owned(seen)) return;
    wait_or_die(me, owner_of(seen), waiting);
  }
}

void wait_for_readers(runner& me, const orec& record) {
  const reader_bit wanted(record);
  machine::light_fence();  // pairs with the heavy fence of a thread that has just made its bits
  for (const runner* one = runner::first(); one != nullptr; one = one->next()) {
    if (one == &me) continue;
    const bits* const theirs = one->read_bits.load(std::memory_order_acquire);  // pairs with the release in make_bits()
    if (theirs == nullptr) continue;
    txsync::detail::patient_spin waiting;
    // Sequentially consistent, as in lock_for_reading(). It also sees what came before the reader's release of its bit.
    while ((theirs[wanted.index].load() & wanted.mask) != 0) wait_or_die(me, *one, waiting);
  }
}

void lock_for_writing(runner& me, orec& record) {
  me.owned.reserve_one();
  txsync::detail::patient_spin waiting;
  for (;;) {
    std::uint64_t seen = record.load();
    if (is_owned(seen)) {
      wait_or_die(me, owner_of(seen), waiting);
    } else if (record.compare_exchange_strong(seen, me.engine::mine)) {
      me.owned.append({&record, seen});
      return wait_for_readers(me, record);
    }
  }
}

/// Versions stay unchanged: other algorithms need them to be at most the clock.
void release_all(runner& me) noexcept {
  // release pairs with the loads of the orec: the next thread that locks it sees what was written
  for (const owned_orec& one : me.owned) one.record->store(one.version, std::memory_order_release);
  me.owned.clear();
  bits* const mine = me.read_bits.load(std::memory_order_relaxed);  // written only by this thread
  for (const orec* const record : me.reads) {
    const reader_bit where(*record);
    bits& all = mine[where.index];
    // relaxed: as above. release pairs with the load in wait_for_readers(): no read is delayed past it
    all.store(all.load(std::memory_order_relaxed) & ~where.mask, std::memory_order_release);
  }
}

void begin(engine& me) {
  me.mine = owned_bit | reinterpret_cast<std::uintptr_t>(&me);
  me.in_place = me.mine;
  me.owned.clear();
  runner_of(me).keeps_timestamp = false;
}

std::uint64_t read(engine& engine, const word& cell, orec& record) {
  runner& me = runner_of(engine);
  const reader_bit wanted(record);
  bits& mine = bits_of(me)[wanted.index];
  // relaxed, all three: written only by this thread while it holds the lock
  if ((mine.load(std::memory_order_relaxed) & wanted.mask) == 0) {
    if (record.load(std::memory_order_relaxed) != me.engine::mine) {
      lock_for_reading(me, record, mine, wanted.mask);
    } else {
      me.reads.append(&record);  // for retry(), as in read_by_orec()
      // relaxed: written only by this thread; nobody else takes the stripe before it releases the orec. release: a
      // thread may wait for another bit of these, which was cleared before, and may see that through this store
      mine.store(mine.load(std::memory_order_relaxed) | wanted.mask, std::memory_order_release);
    }
  }
  return cell.load(std::memory_order_relaxed);
}

void write(engine& engine, word& cell, orec& record, std::uint64_t value) {
  lock_for_writing(runner_of(engine), record);  // otherwise inlined code would have written it
  engine.store_in_place(cell, value);
}

bool commit(engine& me) {
  const bool wrote = !me.owned.empty();
  release_all(runner_of(me));
  drop_timestamp(runner_of(me));
  return wrote;
}

void roll_back(engine& me) noexcept {
  undo_from(me, 0);
  release_all(runner_of(me));
  if (!runner_of(me).keeps_timestamp) drop_timestamp(runner_of(me));
}

}  // namespace

void make_read_bits(runner& me) { static_cast<void>(bits_of(me)); }

void drop_timestamp(runner& me) noexcept {
  me.keeps_timestamp = false;
  // relaxed: written only by this thread
  if (me.timestamp.load(std::memory_order_relaxed) == no_timestamp) return;
  me.timestamp.store(no_timestamp, std::memory_order_relaxed);  // as in wait_or_die()
}

constinit const algorithm two_phase = {
    .name = "2plsf",
    .summary = "two-phase locking, the oldest first; a bound on restarts",
    .begin = begin,
    .read = read,
    .write = write,
    .commit = commit,
    .roll_back = roll_back,
    .roll_back_to = undo_to,
    .is_valid = nullptr,  // what it has read is locked
    .add_reads = add_read_orecs,
    .add_writes = add_undone_words,
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
