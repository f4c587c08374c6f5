// SPDX-License-Identifier: Apache-2.0
// dmp on machines whose attempts abort without a word when they access a page without the right to (Intel). There nobody
// learns which page it was. So the block runs once in software, as a scout. It asks for the rights that the block needs,
// takes none away, and leaves nothing else. Then the block tries the hardware again.
//
// A scout must see memory as it was at one moment, as any transaction. Its reads are those of the software algorithm. But
// it leaves attempts their pages, and these change no record. So an attempt that has written counts that at its end, if a
// scout runs. When the count has moved, the scout compares what it has read with what is there now.
#pragma once

#include "tm/algorithms.hpp"
#include "tm/partition/dmp.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

/// A block that has been scouted so often goes on in software.
inline constexpr std::uint8_t max_scouts = 2;

/// This transaction is a scout, if the block needs one and has not had too many.
void begin_scouting(runner& me) noexcept;
/// Before the software algorithm's read or write. It restarts the block in software if the rights are not to be had.
void scout_page(runner& me, std::uint32_t page, page_use why);
/// Whether all that was read was there at one moment.
bool scout_is_valid(runner& me, const partitioned_software& how) noexcept;
/// After each read.
void note_scouted(runner& me, const partitioned_software& how, const word& cell, std::uint64_t value);
/// The scout has ended, however it did.
void end_scout(runner& me) noexcept;

/// In an attempt, as its last step.
inline void count_hardware_writes(engine& me) noexcept {
  // relaxed, both: in an attempt. A scout that begins after this look changes the word, and so aborts the attempt.
  if (!me.has_written_directly || heap_pages.scouts.load(std::memory_order_relaxed) == 0) return;
  machine::store_in_attempt(heap_pages.hardware_writes, heap_pages.hardware_writes.load(std::memory_order_relaxed) + 1);
}

template <const partitioned_software& how>
struct dmp_over {
  static void begin(engine& me) {
    runner& mine = runner_of(me);
    begin_in_pages(mine);
    how.all.begin(me);
    begin_scouting(mine);
    me.logs_reads = true;  // a snapshot that has to move needs the log
    me.in_place = engine::nobody;
    hide_bound(me);
  }
  static std::uint64_t read(engine& me, const word& cell, orec& record) {
    runner& mine = runner_of(me);
    const std::uint32_t page = page_for(mine, cell);
    if (mine.is_scout) [[unlikely]]
      return scout_read(mine, page, cell, record);
    note_read_of(mine, page);
    if (!withdraw(page, page_use::reads)) run_alone(mine);
    show_bound(me);
    const std::uint64_t value = how.all.read(me, cell, record);
    // The paper compares only the page's own count (line 22). An attempt may have written it and another one.
    if (!changes_are_seen(mine)) [[unlikely]]
      catch_up(mine, how);
    hide_bound(me);
    return value;
  }
  static void write(engine& me, word& cell, orec& record, std::uint64_t value) {
    runner& mine = runner_of(me);
    const std::uint32_t page = page_for(mine, cell);
    if (mine.is_scout) [[unlikely]]
      return scout_write(mine, page, cell, value);
    mark_write_of(mine, page);
    if (!withdraw(page, page_use::writes)) run_alone(mine);
    show_bound(me);
    how.all.write(me, cell, record, value);
    hide_bound(me);
  }
  static bool commit(engine& me) {
    runner& mine = runner_of(me);
    show_bound(me);
    if (!how.prepare(me)) {
      unmark_writes(mine);
      return false;
    }
    // While it owns what it publishes. The paper does it before (lines 44 and 45).
    if (!pages_are_valid(mine)) {
      how.give_back(me);
      restart(me, abort_cause::validation);
    }
    how.publish(me);
    unmark_writes(mine);
    return true;
  }
  static void roll_back(engine& me) noexcept {
    how.all.roll_back(me);
    if (runner_of(me).is_scout) end_scout(runner_of(me));
    unmark_writes(runner_of(me));  // after what was written is undone; the paper does it before (lines 40 to 42)
  }
  static void roll_back_to(engine& me, const log_mark& mark) noexcept {
    if (runner_of(me).is_scout) return unbuffer_to(me, mark);
    how.all.roll_back_to(me, mark);
  }
  static bool is_valid(engine& me) noexcept {
    runner& mine = runner_of(me);
    show_bound(me);
    const bool is_valid = mine.is_scout ? scout_is_valid(mine, how) : pages_are_valid(mine) && how.all.is_valid(me);
    hide_bound(me);
    return is_valid;
  }

 private:
  static std::uint64_t scout_read(runner& me, std::uint32_t page, const word& cell, orec& record) {
    if (const std::uint64_t* const written = me.writes.find(cell)) return *written;
    scout_page(me, page, page_use::reads);
    show_bound(me);
    const std::uint64_t value = how.all.read(me, cell, record);
    note_scouted(me, how, cell, value);
    hide_bound(me);
    return value;
  }
  static void scout_write(runner& me, std::uint32_t page, word& cell, std::uint64_t value) {
    scout_page(me, page, page_use::writes);
    me.writes.put(cell, value, me.alternative != nullptr);
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
