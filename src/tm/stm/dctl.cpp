// SPDX-License-Identifier: Apache-2.0
// dctl: deferred clock transactional locking (Ramalhete and Correia, "Scaling Up Transactions with Slower Clocks",
// PPoPP 2024). It differs from TL2 in three points. A word is owned from its first write on. It is written in place. A
// commit only reads the clock: an abort moves it, or a reader that finds a version as young as its own start.
// Beyond the paper, such a reader also moves its own start, if what it has read is unchanged, and does not abort. That
// is LSA's extension (Riegel, Felber and Fetzer, "A lazy snapshot algorithm", DISC 2006).
//
// Why it is right. A transaction that starts at clock r accepts only versions below r. A committer reads the clock
// while it owns all that it has written.
//  - If it reads r - 1 or less, the clock had not yet reached r. So it owned its words before any transaction with
//    start r began. Such a transaction thus finds all of its writes, or finds the words owned.
//  - If it reads r or more, that transaction accepts none of its writes.
//
// The loads and exchanges of orecs and clock are sequentially consistent, since the argument is about their order
// across words. On x86 that costs nothing for a load.
#include "tm/stm/parts.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

/// Moves the transaction's start to a clock past `version`, if what it has read is unchanged.
bool extend(engine& me, std::uint64_t version) noexcept {
  std::uint64_t now = shared.clock.load();
  if (now <= version) {
    // If another transaction has moved it in the meantime, that is as good. The clock is also moved for the next
    // attempt, which would find this version again.
    if (shared.clock.compare_exchange_strong(now, version + 1)) now = version + 1;
  }
  if (me.has_unlogged) return false;
  if (!orecs_are_valid(me)) return false;
  me.set_bound(now);
  learn_to_start_late(me);
  return true;
}

// Between blocks a runner keeps dctl, with a bound of 0, so each access takes the long path.
[[gnu::noinline]] std::uint64_t read_in_turn(engine& me, const word& cell, orec& record) {
  if (me.mode != run_mode::software) refuse_access(me);
  return read_by_orec<extend>(me, cell, record);
}
[[gnu::noinline]] void write_in_turn(engine& me, word& cell, orec& record, std::uint64_t value) {
  if (me.mode != run_mode::software) refuse_access(me);
  write_in_place<extend>(me, cell, record, value);
}

}  // namespace

namespace dctl_parts {

/// Quick if the attempt has read nothing yet: then there is nothing to check when its start moves. A thread that often
/// writes the same words finds their versions as young as its start.
std::uint64_t read(engine& me, const word& cell, orec& record) {
  const std::uint64_t seen = record.load();
  orec** const slot = me.reads.end();
  if (is_owned(seen) || slot != me.reads.begin() || me.has_unlogged || me.mode != run_mode::software ||
      !me.reads.has_room()) [[unlikely]]
    return read_in_turn(me, cell, record);
  std::uint64_t now = shared.clock.load();
  if (now <= seen) [[likely]] {
    if (shared.clock.compare_exchange_strong(now, seen + 1)) now = seen + 1;  // as in extend()
  }
  const std::uint64_t value = cell.load(std::memory_order_acquire);  // as in engine::read_word()
  if (record.load() != seen) [[unlikely]]                            // sequentially consistent: after the clock
    return read_in_turn(me, cell, record);
  TXSYNC_ASSERT_VALUE(seen < now, "no version is younger than the clock");
  me.set_bound(now);
  if (me.logs_reads) {
    me.reads.append_at(slot, &record);
  } else {
    me.has_unlogged = true;
  }
  return value;
}

/// Quick if the word's record is free, and not younger than the start.
void write(engine& me, word& cell, orec& record, std::uint64_t value) {
  std::uint64_t seen = record.load();
  owned_orec* const slot = me.owned.end();
  old_value* const undo_slot = me.undo.end();
  if (!me.logs_reads || seen >= me.bound() || !me.owned.has_room() || !me.undo.has_room()) [[unlikely]]
    return write_in_turn(me, cell, record, value);
  if (!record.compare_exchange_strong(seen, me.mine)) [[unlikely]]
    return write_in_turn(me, cell, record, value);
  me.owned.append_at(slot, {&record, seen});
  // relaxed and release: as in engine::store_in_place()
  me.undo.append_at(undo_slot, {&cell, cell.load(std::memory_order_relaxed)});
  cell.store(value, std::memory_order_release);
}

bool renew(engine& me) noexcept { return extend(me, 0); }

void roll_back(engine& me) noexcept {
  undo_from(me, 0);
  // A new version: a transaction that has read an undone word must not find the orec unchanged. It is below the clock,
  // so that a transaction that begins now accepts it.
  if (!me.owned.empty()) release_at(me, shared.clock.fetch_add(1));
  me.owned.clear();
}

}  // namespace dctl_parts

constinit const algorithm dctl = dctl_parts::all;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
