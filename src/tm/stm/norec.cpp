// SPDX-License-Identifier: Apache-2.0
// norec: no ownership records (Dalessandro, Spear and Scott, "NOrec: streamlining STM by abolishing ownership records",
// PPoPP 2010). Writes are buffered. One sequence lock is held while they are stored. A transaction that finds that it
// has moved compares all that it has read with what memory holds now.
//
// The lock is the clock of all algorithms. It says who holds it, as an orec does, and grows by one with each commit.
// The paper's lowest bit would not do, since other algorithms leave any number there.
//
// Why it is right. A value that a committer is storing is read with acquire. So the clock, read after it, is found held
// or moved: the reader then waits and compares. Values that are all in memory between two reads of one free clock were
// all there at one moment.
//
// Checks are counted: after max_validations passes over what was read, one access or commit gives up, which counts as a
// failure of the attempt. Hardware attempts of hynorec may move the clock without end.
#include "locks/backoff.hpp"
#include "tm/stm/parts.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

constexpr std::uint64_t min_wait_cycles = 32;  // cycles
constexpr unsigned max_validations = 16;       // of all that was read, before one access or commit gives up

/// The caller holds nothing that others need, so the wait may take long.
std::uint64_t free_clock() noexcept {
  txsync::detail::patient_spin waiting;
  for (;;) {
    const std::uint64_t now = shared.clock.load();
    if (!is_owned(now)) return now;
    refuse_if_left_behind(owner_of(now));
    waiting.wait(min_wait_cycles);
  }
}

}  // namespace

namespace norec_parts {

void begin(engine& me) {
  runner& mine = runner_of(me);
  me.mine = owned_bit | reinterpret_cast<std::uintptr_t>(&me);
  mine.values.clear();
  mine.writes.clear();
  mine.start = free_clock();
}

namespace {
/// Moves the snapshot to now, if memory holds what was read. `passes_left`: over that, lowered by those made.
bool moves_snapshot(runner& mine, unsigned& passes_left) noexcept {
  while (passes_left != 0) {
    --passes_left;
    const std::uint64_t now = free_clock();
    for (const seen_value& one : mine.values) {
      if (one.cell->load(std::memory_order_acquire) != one.value) return false;  // acquire: as in read()
    }
    if (shared.clock.load() == now) {
      mine.start = now;
      return true;
    }
  }
  return false;
}

/// The clock may have moved again when this returns. So it is called again, with the passes that are left.
void move_snapshot(engine& me, unsigned& passes_left) {
  if (!moves_snapshot(runner_of(me), passes_left)) restart(me, abort_cause::validation);
}
}  // namespace

bool is_valid(engine& me) noexcept {
  unsigned passes_left = max_validations;
  return moves_snapshot(runner_of(me), passes_left);
}

std::uint64_t read(engine& me, const word& cell, orec&) {
  runner& mine = runner_of(me);
  if (const std::uint64_t* const written = mine.writes.find(cell)) return *written;
  for (unsigned passes_left = max_validations;;) {
    // acquire pairs with the release of write_set::store_all(): a reader of a new value sees the clock held, or moved
    const std::uint64_t value = cell.load(std::memory_order_acquire);
    if (shared.clock.load() == mine.start) {
      mine.values.append({&cell, value});
      return value;
    }
    move_snapshot(me, passes_left);
  }
}

void write(engine& me, word& cell, orec&, std::uint64_t value) {
  runner& mine = runner_of(me);
  mine.writes.put(cell, value, mine.alternative != nullptr);
}

bool own_clock(engine& me) {
  const runner& mine = runner_of(me);
  if (mine.writes.empty()) return false;
  for (unsigned passes_left = max_validations;;) {
    std::uint64_t expected = mine.start;
    if (shared.clock.compare_exchange_strong(expected, me.mine)) return true;
    move_snapshot(me, passes_left);
  }
}

void publish(engine& me) noexcept {
  const runner& mine = runner_of(me);
  mine.writes.store_all();
  // release pairs with the loads of the clock: a transaction that finds it moved finds all that was stored
  shared.clock.store(mine.start + 1, std::memory_order_release);
}

// release pairs with the loads of the clock, as in publish()
void give_clock_back(engine& me) noexcept { shared.clock.store(runner_of(me).start, std::memory_order_release); }

bool commit(engine& me) {
  if (!own_clock(me)) return false;
  publish(me);
  return true;
}

void roll_back(engine&) noexcept {}

void add_reads(engine& me, stripe_set& into) noexcept {
  for (const seen_value& one : runner_of(me).values) into.add(*one.cell);
}

}  // namespace norec_parts

constinit const algorithm norec = norec_parts::all;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
