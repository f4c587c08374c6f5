// SPDX-License-Identifier: Apache-2.0
#include "tm/partition/scout.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

constexpr unsigned max_validations = 16;  // before one access gives up

bool holds_what_was_read(const runner& me) noexcept {
  for (const seen_value& one : me.values) {
    if (one.cell->load(std::memory_order_acquire) != one.value) return false;  // acquire: as in norec's read()
  }
  return true;
}

}  // namespace

void begin_scouting(runner& me) noexcept {
  if (!me.wants_scout) return;
  if (me.scouts == max_scouts) {
    me.wants_scout = false;
    return me.note_refused_page();
  }
  ++me.scouts;
  me.is_scout = true;
  me.values.clear();
  me.writes.clear();
  heap_pages.scouts.fetch_add(1);
  me.seen_hardware_writes = heap_pages.hardware_writes.load();
}

void scout_page(runner& me, std::uint32_t page, page_use why) {
  const machine::page_rights now = heap_pages.pages[page].rights.load(std::memory_order_acquire);
  if (now == machine::page_rights::read_write) return;
  const page_use wanted = wanted_by(me, why == page_use::writes);
  if (now == machine::page_rights::read && wanted == page_use::reads) return;
  if (request(page, wanted)) return;
  me.wants_scout = false;
  me.note_refused_page();
  run_anew(me);
}

bool scout_is_valid(runner& me, const partitioned_software& how) noexcept {
  for (unsigned passes = 0; passes < max_validations; ++passes) {
    const std::uint64_t now = heap_pages.hardware_writes.load();
    // Both: a word may hold the value again, as that of a transaction that has not committed.
    if (!holds_what_was_read(me) || !how.renew(me)) return false;
    if (heap_pages.hardware_writes.load() == now) {
      me.seen_hardware_writes = now;
      return true;
    }
  }
  return false;
}

void note_scouted(runner& me, const partitioned_software& how, const word& cell, std::uint64_t value) {
  if (!how.logs_values) me.values.append({&cell, value});
  // acquire: an attempt's writes and its count become visible together
  if (heap_pages.hardware_writes.load(std::memory_order_acquire) == me.seen_hardware_writes) return;
  if (!scout_is_valid(me, how)) restart(me, abort_cause::validation);
}

void end_scout(runner& me) noexcept {
  me.is_scout = false;
  me.writes.clear();
  heap_pages.scouts.fetch_sub(1);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
