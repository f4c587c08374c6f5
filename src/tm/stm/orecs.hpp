// SPDX-License-Identifier: Apache-2.0
// What is common to the algorithms with versions in ownership records and concurrent readers: dctl, tl2, tinystm. They
// differ in when a record is owned, where a write goes, and how the clock moves.
#pragma once

#include "tm/algorithms.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

inline bool is_owned(std::uint64_t seen) noexcept { return (seen & owned_bit) != 0; }
inline const runner& owner_of(std::uint64_t seen) noexcept {
  return static_cast<const runner&>(*reinterpret_cast<const engine*>(seen & ~owned_bit));
}

/// At the start of an attempt that reads by inlined code.
inline void begin_with_orecs(engine& me) noexcept {
  const runner& mine = runner_of(me);
  me.mine = owned_bit | reinterpret_cast<std::uintptr_t>(&me);
  me.owned.clear();
  me.logs_reads = mine.wants_log || mine.failures != 0 || !mine.where->only_reads();
}

/// From the first write on, reads are needed at the commit. The first transaction of a block that writes runs anew, with
/// a log. That is no failure: no other thread is the cause.
inline void begin_to_write(engine& me) {
  runner_of(me).where->now_writes();
  if (me.has_unlogged) run_anew(me);
  me.logs_reads = true;
}

/// Whether all reads in the log still belong to the transaction's snapshot.
inline bool orecs_are_valid(engine& me) noexcept {
  const std::uint64_t limit = me.bound();
  for (const orec* const record : me.reads) {
    const std::uint64_t seen = record->load();
    if (seen >= limit && seen != me.mine) return false;
  }
  return true;
}

/// Waits for a while for the owner to release it, then restarts. The owner may wait for what this transaction owns, or
/// may have been preempted.
std::uint64_t wait_for_owner(engine& me, const orec& record);

/// The value of an orec that nobody else owns.
inline std::uint64_t wait_until_free(engine& me, const orec& record) {
  const std::uint64_t seen = record.load();
  return !is_owned(seen) || seen == me.mine ? seen : wait_for_owner(me, record);
}

/// Moves the transaction's snapshot past that version, if what it has read is unchanged. False: it has changed.
using extend_snapshot = bool (*)(engine& me, std::uint64_t version) noexcept;

/// The clock, which is first moved to `version` if it is behind. Hardware attempts write such versions (hytl2,
/// hytinystm); software commits do not.
inline std::uint64_t clock_past(std::uint64_t version) noexcept {
  std::uint64_t now = shared.clock.load();
  while (now < version) {
    if (shared.clock.compare_exchange_weak(now, version)) return version;
  }
  return now;
}

/// How often one access moves the snapshot before it gives up. A word that others write all the time is younger again
/// each time that all reads have been checked. That must count as a failure, or a long transaction never ends.
inline constexpr unsigned max_extensions = 8;

/// The value in memory of a word that the transaction owns, or nobody.
template <extend_snapshot extend>
std::uint64_t read_by_orec(engine& me, const word& cell, orec& record) {
  for (unsigned extensions = 0;;) {
    const std::uint64_t seen = wait_until_free(me, record);
    if (seen == me.mine) {
      me.note_read(record);  // perhaps only the word beside it was written; retry() waits for this one
      return cell.load(std::memory_order_relaxed);  // only this thread writes it
    }
    const std::uint64_t value = cell.load(std::memory_order_acquire);  // as in engine::read_word()
    if (record.load(std::memory_order_relaxed) != seen) continue;      // as there
    if (seen >= me.bound()) {
      if (++extensions > max_extensions || !extend(me, seen)) restart(me, abort_cause::validation);
      continue;
    }
    me.note_read(record);
    return value;
  }
}

/// Owns the record from the write to the end of the attempt. Throws std::bad_alloc, and then nothing is owned.
template <extend_snapshot extend>
void own(engine& me, orec& record) {
  me.owned.reserve_one();
  for (unsigned extensions = 0;;) {
    std::uint64_t seen = wait_until_free(me, record);
    if (seen == me.mine) return;
    if (seen >= me.bound()) {
      if (++extensions > max_extensions || !extend(me, seen)) restart(me, abort_cause::validation);
      continue;
    }
    if (!record.compare_exchange_strong(seen, me.mine)) continue;
    return me.owned.append({&record, seen});
  }
}

template <extend_snapshot extend>
void write_in_place(engine& me, word& cell, orec& record, std::uint64_t value) {
  if (!me.logs_reads) begin_to_write(me);
  own<extend>(me, record);
  me.store_in_place(cell, value);
}

/// Releases all owned records. Requires: there is one.
inline void release_at(engine& me, std::uint64_t version) noexcept {
  TXSYNC_ASSERT_VALUE(!me.owned.empty(), "the transaction owns a record");
  const owned_orec* one = me.owned.begin();
  // release pairs with the loads of orecs by readers: a reader of the version sees what was written under it
  do one->record->store(version, std::memory_order_release);
  while (++one != me.owned.end());
}

void add_read_orecs(engine& me, stripe_set& into) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
