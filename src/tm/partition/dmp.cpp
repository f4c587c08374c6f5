// SPDX-License-Identifier: Apache-2.0
// dmp_norec, dmp_tinystm, dmp_dctl: hardware attempts and software transactions that do not look at each other. The
// rights of pages keep them apart (pages.hpp; the DMP paper, Algorithm 1). Attempts are not instrumented. They use
// the second addresses of the heap. A block that fails in hardware runs without any other.
//
// Why it is right.
//  - An attempt sees nothing of a software transaction that runs. Before that transaction writes a page, it marks the
//    page and takes the attempts' rights away, which aborts those that have used it. They get the rights again when no
//    mark is left, and marks go after all writes are published, or undone.
//  - A software transaction sees nothing of an attempt that runs, since that one is atomic. Before it reads a page, it
//    takes away the attempts' right to write. If an attempt has got the right again since then, `changes` has moved. The
//    transaction then finds that the page's `grants` have moved, and restarts.
//  - What it reads belongs together. Suppose that it has read x, that another transaction commits x and y, that an
//    attempt reads y and writes z on a page that attempts may write, and that the first transaction now reads z. To read
//    z it, or another thread, has withdrawn the right to write after the attempt. So `changes` has moved since it began,
//    and it finds that x has changed.
//  - Its commit is at one moment: pages are checked while it owns what it is about to publish.
#include "tm/partition/scout.hpp"

#include <txsync/machine/assert.hpp>
#include <txsync/machine/asymmetric.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

void begin_in_pages(runner& me) {
  page_mark* const marks = marks_of(me);
  me.pages_read.clear();
  TXSYNC_ASSERT(me.pages_written.empty(), "the last transaction has taken back its marks");
  if (++me.page_reads_by == 0) {  // after 2^32 transactions, marks of the first ones would count again
    for (std::uint32_t i = 0; i < heap_pages.page_count(); ++i) marks[i].read_by = 0;
    me.page_reads_by = 1;
  }
  // Before or after the snapshot begins: nothing has been read yet.
  me.seen_changes = heap_pages.changes.load();
}

void note_read_of(runner& me, std::uint32_t page) {
  page_mark& mark = me.page_marks.load(std::memory_order_relaxed)[page];
  if (mark.read_by == me.page_reads_by) [[likely]]
    return;
  me.pages_read.append(page);
  mark.read_by = me.page_reads_by;
  // Before the page's rights are looked at: a thread that sees this count of a grant also sees the rights then given.
  mark.grants = heap_pages.pages[page].grants.load();
}

void mark_write_of(runner& me, std::uint32_t page) {
  page_mark& mark = me.page_marks.load(std::memory_order_relaxed)[page];
  // relaxed: only this thread writes it
  if (mark.is_written.load(std::memory_order_relaxed) != 0) [[likely]]
    return;
  me.pages_written.append(page);
  mark.is_written.store(1, std::memory_order_relaxed);
  machine::light_fence();  // before the look at the rights; pairs with the heavy fence in grant()
}

bool pages_are_valid(const runner& me) noexcept {
  if (changes_are_seen(me)) return true;
  const page_mark* const marks = me.page_marks.load(std::memory_order_relaxed);  // relaxed: the thread's own
  for (const std::uint32_t page : me.pages_read) {
    if (heap_pages.pages[page].grants.load(std::memory_order_acquire) != marks[page].grants) return false;
  }
  return true;
}

void catch_up(runner& me, const partitioned_software& how) {
  const std::uint64_t now = heap_pages.changes.load();
  if (!pages_are_valid(me) || !how.renew(me)) restart(me, abort_cause::validation);
  me.seen_changes = now;
}

void unmark_writes(runner& me) noexcept {
  page_mark* const marks = me.page_marks.load(std::memory_order_relaxed);
  for (const std::uint32_t page : me.pages_written) {
    // release pairs with the acquire of a thread that wants the page for attempts
    marks[page].is_written.store(0, std::memory_order_release);
  }
  me.pages_written.clear();
}

void run_alone(runner& me) {
  me.wants_alone = true;
  me.is_marked = true;
  run_anew(me);
}

namespace {

// ---- software

bool prepare_owned(engine& me) {
  if (me.owned.empty()) return false;
  if (!orecs_are_valid(me)) restart(me, abort_cause::validation);
  return true;
}

}  // namespace

constinit const partitioned_software partitioned_norec = {
    .all = norec_parts::all,
    .renew = norec_parts::is_valid,
    .prepare = norec_parts::own_clock,
    .publish = norec_parts::publish,
    .give_back = norec_parts::give_clock_back,
    .logs_values = true,
};
constinit const partitioned_software partitioned_tinystm = {
    .all = tinystm_parts::buffered,
    .renew = tinystm_parts::renew,
    .prepare = tinystm_parts::prepare_buffered,
    .publish = tinystm_parts::publish_buffered,
    .give_back = [](engine&) noexcept {},
};
constinit const partitioned_software partitioned_dctl = {
    .all = dctl_parts::all,
    .renew = dctl_parts::renew,
    .prepare = prepare_owned,
    .publish = [](engine& me) noexcept { release_at(me, shared.clock.load()); },
    .give_back = [](engine&) noexcept {},
};

namespace {

// ---- hardware

void prepare_attempt(engine& me) noexcept { me.view = heap_pages.views; }

void begin_attempt(engine& me) noexcept { me.duties |= by_second_view; }

/// The machine says nothing of an access without rights. It says as little of an interrupt, so one such abort is not
/// enough.
bool needs_scout(engine& me, abort_cause why) noexcept {
  runner& mine = runner_of(me);
  if (mine.wants_scout) return true;
  if (why != abort_cause::unknown) {
    mine.silent_aborts = 0;
    return false;
  }
  mine.is_marked = true;
  // relaxed: a hint
  if (++mine.silent_aborts < 2 || heap_pages.restricted.load(std::memory_order_relaxed) == 0) return false;
  mine.silent_aborts = 0;
  mine.wants_scout = true;
  return true;
}

bool may_try(const engine& me) noexcept {
  // relaxed: a hint
  return !static_cast<const runner&>(me).page_is_refused && !heap_pages.is_refused.load(std::memory_order_relaxed);
}

constexpr hardware_half attempts = {.prepare = prepare_attempt,
                                    .begin = begin_attempt,
                                    .end = count_hardware_writes,
                                    .may_try = may_try,
                                    .needs_scout = needs_scout};

template <const partitioned_software& how>
constexpr algorithm made_of(const algorithm& software, const algorithm& without_attempts, const char* name,
                            const char* summary) noexcept {
  algorithm made = as_hybrid(software, name, summary, attempts);
  made.begin = dmp_over<how>::begin;
  made.read = dmp_over<how>::read;
  made.write = dmp_over<how>::write;
  made.commit = dmp_over<how>::commit;
  made.roll_back = dmp_over<how>::roll_back;
  made.roll_back_to = dmp_over<how>::roll_back_to;
  made.is_valid = dmp_over<how>::is_valid;
  made.beside_hardware = false;
  made.hardware_tries = dmp_tries;
  made.alone_after_attempts = true;
  made.divides_memory = true;
  made.without_attempts = &without_attempts;
  return made;
}

}  // namespace

constinit const algorithm dmp_norec = made_of<partitioned_norec>(
    norec_parts::all, norec, "dmp_norec", "attempts of the hardware apart from norec by the rights of pages");
constinit const algorithm dmp_tinystm =
    made_of<partitioned_tinystm>(tinystm_parts::buffered, tinystm_wb, "dmp_tinystm",
                                 "attempts of the hardware apart from tinystm_wb by the rights of pages");
constinit const algorithm dmp_dctl = made_of<partitioned_dctl>(
    dctl_parts::all, dctl, "dmp_dctl", "attempts of the hardware apart from dctl by the rights of pages");

bool divide_memory() noexcept { return have_heap() && machine::set_fault_handler(serve<request>, nullptr); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
