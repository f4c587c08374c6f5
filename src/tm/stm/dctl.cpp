// SPDX-License-Identifier: Apache-2.0
// dctl: deferred clock transactional locking (Ramalhete and Correia, "Scaling Up Transactions with Slower Clocks",
// PPoPP 2024). Like TL2, but that words are owned from the first write on and written in place, and that a commit only
// reads the clock: it is an abort, or a reader that meets a version as young as its own start, which moves it. Beyond
// the paper: such a reader moves its own start too where what it has read is still so (LSA's extension; Riegel, Felber
// and Fetzer, "A lazy snapshot algorithm", DISC 2006), and does not abort.
//
// Why it is right. A transaction that starts at clock r takes versions below r only. A committer reads the clock while
// it owns all that it has written. If it reads r - 1 or less, the clock had not come to r then: so it owned its words
// before any transaction with start r began, which thus meets all of its writes, or their owner. If it reads r or more,
// that transaction takes none of them. The loads and exchanges of orecs and clock are sequentially consistent, for it
// is an argument about their order across words; on x86 that costs nothing for a load.
#include "tm/algorithms.hpp"

namespace txsync::inline TXSYNC_BACKEND::tm::detail {

namespace {

constexpr std::uint64_t spin_cycles = 1'000;  // at an orec that another transaction owns, before the attempt gives way

bool is_owned(std::uint64_t seen) noexcept { return (seen & owned_bit) != 0; }

void start_at(engine& me, std::uint64_t clock) noexcept { me.limit = clock - 1; }

void begin(engine& me) {
  runner& mine = runner_of(me);
  me.records = all_records;
  me.mine = owned_bit | reinterpret_cast<std::uintptr_t>(&me);
  me.owned.clear();
  me.writes_in_place = true;
  me.logs_reads = mine.wants_log || mine.failures > 1 || !mine.where->only_reads();
  start_at(me, shared.clock.load());
}

bool is_valid(engine& me) noexcept {
  for (const orec* const record : me.reads) {
    const std::uint64_t seen = record->load();
    if (seen > me.limit && seen != me.mine) return false;
  }
  return true;
}

/// The transaction starts anew at a clock past `version`, where what it has read is still so.
bool extend(engine& me, std::uint64_t version) noexcept {
  if (me.has_unlogged) return false;
  std::uint64_t now = shared.clock.load();
  if (now <= version) {
    // Where another one has moved it meanwhile, that is as good.
    if (shared.clock.compare_exchange_strong(now, version + 1)) now = version + 1;
  }
  if (!is_valid(me)) return false;
  start_at(me, now);
  return true;
}

[[gnu::noinline]] std::uint64_t wait_for_owner(engine& me, const orec& record) {
  const std::uint64_t start = machine::cycles();
  for (;;) {
    const std::uint64_t seen = record.load();
    if (!is_owned(seen)) return seen;
    if (machine::cycles() - start > spin_cycles) {
      runner_of(me).met = &record;
      runner_of(me).met_owner = seen;
      restart(me, abort_cause::locked);
    }
    machine::relax();
  }
}

/// What an orec says that nobody else owns.
std::uint64_t wait_until_free(engine& me, const orec& record) {
  const std::uint64_t seen = record.load();
  return !is_owned(seen) || seen == me.mine ? seen : wait_for_owner(me, record);
}

std::uint64_t read(engine& me, const word& cell) {
  orec& record = me.orec_of(cell);
  for (;;) {
    const std::uint64_t seen = wait_until_free(me, record);
    if (seen == me.mine) return cell.load(std::memory_order_relaxed);  // only this thread writes it
    const std::uint64_t value = cell.load(std::memory_order_acquire);  // as in engine::read()
    if (record.load(std::memory_order_relaxed) != seen) continue;      // as there
    if (seen > me.limit) {
      if (!extend(me, seen)) restart(me, abort_cause::validation);
      continue;
    }
    if (me.logs_reads) {
      me.reads.append(&record);
    } else {
      me.has_unlogged = true;
    }
    return value;
  }
}

/// From the first write on reads are needed at the commit.
void begin_to_write(engine& me) {
  runner_of(me).where->now_writes();
  if (me.has_unlogged) restart(me, abort_cause::validation);
  me.logs_reads = true;
}

void own(engine& me, orec& record) {
  me.owned.reserve_one();
  for (;;) {
    std::uint64_t seen = wait_until_free(me, record);
    if (seen == me.mine) return;
    if (seen > me.limit) {
      if (!extend(me, seen)) restart(me, abort_cause::validation);
      continue;
    }
    if (!record.compare_exchange_strong(seen, me.mine)) continue;
    return me.owned.append({&record, seen});
  }
}

void write(engine& me, word& cell, std::uint64_t value) {
  if (!me.logs_reads) begin_to_write(me);
  own(me, me.orec_of(cell));
  me.store_in_place(cell, value);
}

void release_at(engine& me, std::uint64_t version) noexcept {
  // release pairs with the loads of orecs in read(): who sees the version sees what was written under it
  for (const owned_orec& one : me.owned) one.record->store(version, std::memory_order_release);
}

bool commit(engine& me) {
  if (me.owned.empty()) return false;
  if (!is_valid(me)) restart(me, abort_cause::validation);
  release_at(me, shared.clock.load());
  return true;
}

void roll_back(engine& me) noexcept {
  undo_from(me, 0);
  // A version of their own: who has read a word that is undone must not find the orec as it was. Below the clock, so
  // that whoever begins now takes it.
  if (!me.owned.empty()) release_at(me, shared.clock.fetch_add(1));
  me.owned.clear();
}

// The orecs stay owned.
void roll_back_to(engine& me, const log_mark& mark) noexcept { undo_from(me, mark.undo); }

void add_reads(engine& me, stripe_set& into) noexcept {
  for (const orec* const record : me.reads) into.add_index(static_cast<std::uint64_t>(record - all_records.first));
}

}  // namespace

constinit const algorithm dctl = {
    .name = "dctl",
    .summary = "words owned from the first write on, written in place; a clock that commits only read",
    .begin = begin,
    .read = read,
    .write = write,
    .commit = commit,
    .roll_back = roll_back,
    .roll_back_to = roll_back_to,
    .is_valid = is_valid,
    .add_reads = add_reads,
    .add_writes = add_undone_words,
};

}  // namespace txsync::inline TXSYNC_BACKEND::tm::detail
