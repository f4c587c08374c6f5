// SPDX-License-Identifier: Apache-2.0
// tl2: transactional locking II (Dice, Shalev and Shavit, DISC 2006). Writes are buffered. A commit first owns
// their words and moves the clock by one. Then it checks the reads, and stores the values under the new version. A
// reader that finds a version younger than its start gives up.
//
// Why it is right. A committer owns all its words before it moves the clock to its version. A transaction whose start
// is that version or later has begun after they were owned. So it finds the word owned, or finds the new values.
#include "tm/stm/parts.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

/// In engine::owned, for a word that will be owned at the commit: it is not owned yet, or an earlier entry owns it.
/// Both lists grow with the writes, so that a commit needs no memory.
constexpr std::uint64_t not_yet = owned_bit;

/// Hardware attempts write versions that the clock has not reached. The next attempt has to start past this one.
[[noreturn]] void restart_past(engine& me, std::uint64_t version) {
  static_cast<void>(clock_past(version));
  restart(me, abort_cause::validation);
}

}  // namespace

namespace tl2_parts {

void begin(engine& me) {
  begin_with_orecs(me);
  runner& mine = runner_of(me);
  mine.writes.clear();
  mine.start = shared.clock.load() + 1;
  me.set_bound(mine.start);
}

std::uint64_t read(engine& me, const word& cell, orec& record) {
  const runner& mine = runner_of(me);
  if (const std::uint64_t* const written = mine.writes.find(cell)) return *written;
  for (;;) {
    const std::uint64_t seen = wait_until_free(me, record);
    if (seen >= mine.start) restart_past(me, seen);
    const std::uint64_t value = cell.load(std::memory_order_acquire);  // as in engine::read_word()
    if (record.load(std::memory_order_relaxed) != seen) continue;      // as there
    me.note_read(record);
    return value;
  }
}

void write(engine& me, word& cell, orec& record, std::uint64_t value) {
  if (!me.logs_reads) begin_to_write(me);
  me.set_bound(0);  // from here on a read looks at the buffer first
  runner& mine = runner_of(me);
  me.owned.reserve_one();
  if (mine.writes.put(cell, value, mine.alternative != nullptr) == write_set::outcome::added) {
    me.owned.append({&record, not_yet});
  }
}

namespace {
/// A version younger than the start counts as a conflict, even for a word that was only written. Otherwise every read
/// of an owned word would have to look up the version that the word had.
void own_at_commit(engine& me, owned_orec& one) {
  for (;;) {
    std::uint64_t seen = wait_until_free(me, *one.record);
    if (seen == me.mine) return;
    if (seen >= runner_of(me).start) restart_past(me, seen);
    if (!one.record->compare_exchange_strong(seen, me.mine)) continue;
    one.version = seen;
    return;
  }
}

/// Releases the records that are owned.
template <class Version>
void release(engine& me, const Version& version) noexcept {
  for (owned_orec& one : me.owned) {
    if (one.version == not_yet) continue;
    one.record->store(version(one), std::memory_order_release);  // as in release_at()
  }
}
}  // namespace

bool is_valid(engine& me) noexcept {
  me.set_bound(runner_of(me).start);
  return orecs_are_valid(me);
}

bool commit(engine& me) {
  if (me.owned.empty()) return false;
  for (owned_orec& one : me.owned) own_at_commit(me, one);
  const std::uint64_t version = shared.clock.fetch_add(1) + 1;
  // If nobody has moved the clock since the start, no other software transaction has written.
  const bool others_may_have_written = version != runner_of(me).start || me.how->beside_hardware;
  if (others_may_have_written && !is_valid(me)) restart(me, abort_cause::validation);
  runner_of(me).writes.store_all();
  release(me, [version](const owned_orec&) { return version; });
  return true;
}

// Nothing has been stored.
void roll_back(engine& me) noexcept {
  release(me, [](const owned_orec& one) { return one.version; });
  me.owned.clear();
}

void roll_back_to(engine& me, const log_mark& mark) noexcept {
  unbuffer_to(me, mark);
  me.owned.truncate(mark.buffered);
}

}  // namespace tl2_parts

constinit const algorithm tl2 = tl2_parts::all;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
