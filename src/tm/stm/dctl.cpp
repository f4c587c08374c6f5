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
#include "tm/stm/dctl.hpp"

namespace txsync::inline TXSYNC_BACKEND::tm::detail {

namespace {

/// The transaction starts anew at a clock past `version`, where what it has read is still so.
bool extend(engine& me, std::uint64_t version) noexcept {
  std::uint64_t now = shared.clock.load();
  if (now <= version) {
    // Where another one has moved it meanwhile, that is as good. It is moved for the next attempt too, which would meet
    // this version again.
    if (shared.clock.compare_exchange_strong(now, version + 1)) now = version + 1;
  }
  if (me.has_unlogged) return false;
  if (!orecs_are_valid(me)) return false;
  me.set_bound(now);
  learn_to_start_late(me);
  return true;
}

void roll_back(engine& me) noexcept {
  undo_from(me, 0);
  // A version of their own: who has read a word that is undone must not find the orec as it was. Below the clock, so
  // that whoever begins now takes it.
  if (!me.owned.empty()) release_at(me, shared.clock.fetch_add(1));
  me.owned.clear();
}

}  // namespace

constinit const algorithm dctl = {
    .name = "dctl",
    .summary = "words owned from the first write on, written in place; a clock that commits only read",
    .begin = begin_dctl,
    .read = read_by_orec<extend>,
    .write = write_in_place<extend>,
    .commit = commit_dctl,
    .roll_back = roll_back,
    .roll_back_to = undo_to,
    .is_valid = orecs_are_valid,
    .add_reads = add_read_orecs,
    .add_writes = add_undone_words,
};

}  // namespace txsync::inline TXSYNC_BACKEND::tm::detail
