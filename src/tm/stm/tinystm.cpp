// SPDX-License-Identifier: Apache-2.0
// tinystm_wb and tinystm_wt: the lazy snapshot algorithm over words. Sources:
//  - Felber, Fetzer and Riegel, "Dynamic performance tuning of word-based software transactional memory", PPoPP 2008
//  - Riegel, Felber and Fetzer, "A lazy snapshot algorithm with eager validation", DISC 2006
//
// Words are owned from the first write on. Each commit that writes moves the clock by one, as in TL2. A transaction
// that finds a version younger than its snapshot moves the snapshot to now, if all that it has read is unchanged.
// Writes wait in a buffer (write-back), or go in place with an undo log (write-through).
//
// Why it is right: as in tl2.cpp. A snapshot is moved to a clock that is read before the reads are checked.
//
// The paper counts incarnations in the orecs of write-through, so that an undone attempt need not move the clock. Here
// the attempt takes a version from the clock, since engine::read_word() compares whole versions.
#include "tm/stm/parts.hpp"

#include <txsync/machine/assert.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

bool extend(engine& me, std::uint64_t version) noexcept {
  const std::uint64_t now = clock_past(version);  // for the next attempt, too
  if (me.has_unlogged) return false;
  if (!orecs_are_valid(me)) return false;
  me.set_bound(now + 1);
  return true;
}

void begin(engine& me) {
  begin_with_orecs(me);
  me.set_bound(shared.clock.load() + 1);
}

/// The version of the commit. Requires: all words that it writes are owned.
std::uint64_t version_of_commit(engine& me) {
  TXSYNC_ASSERT(std::all_of(me.owned.begin(), me.owned.end(),
                            [&](const owned_orec& one) { return one.record->load() == me.mine; }),
                "the transaction owns what it is about to release");
  const std::uint64_t version = shared.clock.fetch_add(1) + 1;
  // If nobody has moved the clock since the snapshot, no other software transaction has written.
  const bool others_may_have_written = version != me.bound() || me.how->beside_hardware;
  if (others_may_have_written && !orecs_are_valid(me)) restart(me, abort_cause::validation);
  return version;
}

}  // namespace

// Write-back.

namespace tinystm_parts {

void begin_buffered(engine& me) {
  begin(me);
  runner_of(me).writes.clear();
}

std::uint64_t read_buffered(engine& me, const word& cell, orec& record) {
  // The orec of a buffered word is owned, so inlined reads do not read the word.
  if (const std::uint64_t* const written = runner_of(me).writes.find(cell)) return *written;
  return read_by_orec<extend>(me, cell, record);
}

void write_buffered(engine& me, word& cell, orec& record, std::uint64_t value) {
  if (!me.logs_reads) begin_to_write(me);
  own<extend>(me, record);
  runner& mine = runner_of(me);
  mine.writes.put(cell, value, mine.alternative != nullptr);
}

bool prepare_buffered(engine& me) {
  if (me.owned.empty()) return false;
  runner_of(me).start = version_of_commit(me);
  return true;
}

void publish_buffered(engine& me) noexcept {
  runner_of(me).writes.store_all();
  release_at(me, runner_of(me).start);
}

bool commit_buffered(engine& me) {
  if (!prepare_buffered(me)) return false;
  publish_buffered(me);
  return true;
}

bool renew(engine& me) noexcept { return extend(me, 0); }

// Nothing has been stored: the orecs get back their former values.
void roll_back_buffered(engine& me) noexcept {
  for (const owned_orec& one : me.owned) one.record->store(one.version, std::memory_order_release);  // as release_at()
  me.owned.clear();
}

}  // namespace tinystm_parts

// Write-through.

namespace {

void begin_in_place(engine& me) {
  begin(me);
  me.in_place = me.mine;
}

bool commit_in_place(engine& me) {
  if (me.owned.empty()) return false;
  release_at(me, version_of_commit(me));
  return true;
}

void roll_back_in_place(engine& me) noexcept {
  undo_from(me, 0);
  // A new version: a transaction that has read an undone word must not find the orec unchanged.
  if (!me.owned.empty()) release_at(me, shared.clock.fetch_add(1) + 1);
  me.owned.clear();
}

}  // namespace

constinit const algorithm tinystm_wb = tinystm_parts::buffered;

constinit const algorithm tinystm_wt = {
    .name = "tinystm_wt",
    .summary = "words owned from the first write on, written in place; snapshots that move",
    .begin = begin_in_place,
    .read = read_by_orec<extend>,
    .write = write_in_place<extend>,
    .commit = commit_in_place,
    .roll_back = roll_back_in_place,
    .roll_back_to = undo_to,
    .is_valid = orecs_are_valid,
    .add_reads = add_read_orecs,
    .add_writes = add_undone_words,
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
