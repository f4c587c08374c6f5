// SPDX-License-Identifier: Apache-2.0
// dmp with one fault each. Those named "printed" are steps of Algorithm 1 as the DMP paper prints it. Exploring has to
// find every one of them.
#include <mutex>

#include <txsync/machine/asymmetric.hpp>

#include "explorations/tm_pages.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

using namespace explored;
using machine::page_rights;
using tm::detail::algorithm;
using tm::detail::dmp_over;
using tm::detail::engine;
using tm::detail::heap_pages;
using tm::detail::is_written_by_software;
using tm::detail::orec;
using tm::detail::page_state;
using tm::detail::page_use;
using tm::detail::partitioned_software;
using tm::detail::runner;
using tm::detail::runner_of;

bool set_rights(std::uint32_t page, page_rights rights) noexcept {
  return machine::protect_pages(heap_pages.second_address_of(page), heap_pages.page_bytes(), rights);
}

page_rights wanted_for(page_use why) noexcept { return why == page_use::reads ? page_rights::read : page_rights::none; }

bool is_enough(page_rights now, page_use why) noexcept {
  return why == page_use::reads ? now != page_rights::read_write : now == page_rights::none;
}

// ---- steps of software

/// Does not look at the rights again once it has the lock (lines 16 to 19 and 29 to 32).
void withdraw_blindly(std::uint32_t page, page_use why) noexcept {
  page_state& state = heap_pages.pages[page];
  if (is_enough(state.rights.load(std::memory_order_acquire), why)) return;
  const std::lock_guard guard(state.lock);
  static_cast<void>(set_rights(page, wanted_for(why)));
  heap_pages.changes.fetch_add(1);
  state.rights.store(wanted_for(why), std::memory_order_release);
}

/// Does not count that the right to write was withdrawn.
void withdraw_uncounted(std::uint32_t page, page_use why) noexcept {
  page_state& state = heap_pages.pages[page];
  if (is_enough(state.rights.load(std::memory_order_acquire), why)) return;
  const std::lock_guard guard(state.lock);
  if (is_enough(state.rights.load(std::memory_order_relaxed), why)) return;
  static_cast<void>(set_rights(page, wanted_for(why)));
  state.rights.store(wanted_for(why), std::memory_order_release);
}

void withdraw_rightly(std::uint32_t page, page_use why) noexcept { static_cast<void>(withdraw(page, why)); }

using withdrawal = void (*)(std::uint32_t page, page_use why) noexcept;
/// After a read of that page.
using look = void (*)(runner& mine, std::uint32_t page, const partitioned_software& how);

void look_rightly(runner& mine, std::uint32_t, const partitioned_software& how) {
  if (!changes_are_seen(mine)) catch_up(mine, how);
}

/// Only whether that page was granted (line 22).
void look_at_one_page(runner& mine, std::uint32_t page, const partitioned_software&) {
  const tm::detail::page_mark& mark = mine.page_marks.load()[page];
  if (heap_pages.pages[page].grants.load() != mark.grants) restart(mine, abort_cause::validation);
}

/// Does not look whether the snapshot of the software algorithm is still valid.
void look_at_pages(runner& mine, std::uint32_t, const partitioned_software&) {
  if (!pages_are_valid(mine)) restart(mine, abort_cause::validation);
}

void look_at_nothing(runner&, std::uint32_t, const partitioned_software&) {}

/// The software's accesses, by a thread that may be preempted between two steps.
template <const partitioned_software& how, withdrawal withdraw_by, look look_by>
struct accesses {
  static constexpr unsigned reads_linger = look_by == look_at_one_page ? 2 : 0;
  static constexpr unsigned writes_linger = withdraw_by == withdraw_blindly ? 1 : 0;

  static std::uint64_t read(engine& me, const tm::word& cell, orec& record) {
    runner& mine = runner_of(me);
    const std::uint32_t page = heap_pages.page_of(&cell);
    // Line 12. Right ones do not look before the access.
    if (look_by == look_at_one_page && !pages_are_valid(mine)) restart(me, abort_cause::validation);
    linger(reads_linger);
    note_read_of(mine, page);
    withdraw_by(page, page_use::reads);
    show_bound(me);
    const std::uint64_t value = how.all.read(me, cell, record);
    look_by(mine, page, how);
    hide_bound(me);
    return value;
  }
  static void write(engine& me, tm::word& cell, orec& record, std::uint64_t value) {
    runner& mine = runner_of(me);
    const std::uint32_t page = heap_pages.page_of(&cell);
    mark_write_of(mine, page);
    linger(writes_linger);
    withdraw_by(page, page_use::writes);
    show_bound(me);
    how.all.write(me, cell, record, value);
    hide_bound(me);
  }
};

template <const partitioned_software& how, withdrawal withdraw_by, look look_by>
algorithm accessing(const algorithm& right) {
  algorithm made = right;
  made.read = accesses<how, withdraw_by, look_by>::read;
  made.write = accesses<how, withdraw_by, look_by>::write;
  return made;
}

/// Takes back its marks before it undoes what it has written (lines 40 to 42).
template <const partitioned_software& how>
algorithm unmarking_first(const algorithm& right) {
  algorithm made = right;
  made.roll_back = [](engine& me) noexcept {
    unmark_writes(runner_of(me));
    linger();
    how.all.roll_back(me);
  };
  return made;
}

enum class pages_looked_at : bool { first, never };

/// Looks at the pages before it owns what it writes (lines 44 and 45), or not at all.
template <const partitioned_software& how, pages_looked_at when>
algorithm committing(const algorithm& right) {
  algorithm made = right;
  made.commit = [](engine& me) {
    runner& mine = runner_of(me);
    show_bound(me);
    if (when == pages_looked_at::first && !pages_are_valid(mine)) restart(me, abort_cause::validation);
    linger(10);
    const bool wrote = how.prepare(me);
    if (wrote) how.publish(me);
    unmark_writes(mine);
    return wrote;
  };
  return made;
}

/// Its marks go before its writes are published.
template <const partitioned_software& how>
algorithm unmarking_before_publishing(const algorithm& right) {
  algorithm made = right;
  made.commit = [](engine& me) {
    runner& mine = runner_of(me);
    show_bound(me);
    const bool wrote = how.prepare(me);
    if (wrote && !pages_are_valid(mine)) {
      how.give_back(me);
      restart(me, abort_cause::validation);
    }
    unmark_writes(mine);
    linger(4);
    if (wrote) how.publish(me);
    return wrote;
  };
  return made;
}

// ---- steps of the handler

/// What is wrong with a grant.
enum class wrong : std::uint8_t {
  rights_afterwards,  ///< the page has no rights when a writer comes between (line 57)
  order,              ///< the right is given before it is counted
  no_fence,           ///< line 55
  no_look,            ///< it does not look a second time whether software has written the page (line 56)
};

template <wrong what>
bool request_wrongly(std::uint32_t page, page_use why) noexcept {
  page_state& state = heap_pages.pages[page];
  const page_rights wanted = why == page_use::reads ? page_rights::read : page_rights::read_write;
  constexpr unsigned max_looks = 64;
  for (unsigned looks = 0; is_written_by_software(page); ++looks) {
    if (looks == max_looks) return false;
    machine::relax();
  }
  const std::lock_guard guard(state.lock);
  const page_rights before = state.rights.load();
  if (before == page_rights::read_write || before == wanted) return true;
  state.rights.store(wanted, std::memory_order_relaxed);
  if (what != wrong::no_fence) machine::heavy_fence();
  if (what != wrong::no_look && is_written_by_software(page)) {
    state.rights.store(what == wrong::rights_afterwards ? page_rights::none : before, std::memory_order_relaxed);
    return true;  // the attempt comes again
  }
  if (what == wrong::order) {
    static_cast<void>(set_rights(page, wanted));
    linger();
  }
  if (wanted == page_rights::read_write) {
    state.grants.fetch_add(1);
    heap_pages.changes.fetch_add(1);
  }
  return what == wrong::order || set_rights(page, wanted);
}

template <wrong what>
constexpr machine::fault_handler served_wrongly = tm::detail::serve<request_wrongly<what>>;

// ---- steps of scouts

/// What a scout has written stays.
template <const partitioned_software& how>
algorithm publishing_scouts(const algorithm& right) {
  algorithm made = right;
  made.roll_back = [](engine& me) noexcept {
    if (runner_of(me).is_scout) runner_of(me).writes.store_all();
    dmp_over<how>::roll_back(me);
  };
  return made;
}

/// Attempts do not count that they have written.
algorithm with_attempts(const algorithm& right, const tm::detail::hardware_half& attempts) {
  algorithm made = right;
  made.in_hardware = &attempts;
  return made;
}
tm::detail::hardware_half uncounting(const algorithm& right) {
  tm::detail::hardware_half made = *right.in_hardware;
  made.end = [](engine&) noexcept {};
  return made;
}

using tm::detail::partitioned_dctl;
using tm::detail::partitioned_norec;
using tm::detail::partitioned_tinystm;

const algorithm one_page = accessing<partitioned_tinystm, withdraw_rightly, look_at_one_page>(mixed_dmp_tinystm);
const algorithm pages_only = accessing<partitioned_tinystm, withdraw_rightly, look_at_pages>(mixed_dmp_tinystm);
const algorithm no_look_dctl = accessing<partitioned_dctl, withdraw_rightly, look_at_nothing>(mixed_dmp_dctl);
const algorithm blind = accessing<partitioned_dctl, withdraw_blindly, look_rightly>(mixed_dmp_dctl);
const algorithm uncounted = accessing<partitioned_tinystm, withdraw_uncounted, look_rightly>(mixed_dmp_tinystm);
const algorithm early_unmark = unmarking_first<partitioned_dctl>(mixed_dmp_dctl);
const algorithm early_pages = committing<partitioned_norec, pages_looked_at::first>(mixed_dmp_norec);
const algorithm no_pages = committing<partitioned_norec, pages_looked_at::never>(mixed_dmp_norec);
const algorithm unpublished = unmarking_before_publishing<partitioned_tinystm>(mixed_dmp_tinystm);

const algorithm publishing = publishing_scouts<partitioned_dctl>(mixed_dmp_dctl);
const tm::detail::hardware_half uncounting_half = uncounting(mixed_dmp_tinystm);
const algorithm uncounted_writes = with_attempts(mixed_dmp_tinystm, uncounting_half);

constexpr auto broken = verdict::broken;

constexpr exploration table[] = {
    explored_by<opacity_in_pages<overtaking, 1>, 2, one_page>(
        "seeded:dmp-printed-read", "printed: a read looks only whether its own page was granted", broken),
    explored_by<opacity_in_pages<carrying_over, 2>, 3, pages_only>(
        "seeded:dmp-old-snapshot", "a read does not look at the software's snapshot after a change", broken),
    explored_by<opacity_in_pages<overtaking, 1>, 2, no_look_dctl>("seeded:dmp-no-look",
                                                                  "a read looks at nothing afterwards", broken),
    explored_by<opacity_in_pages<exchanging, 1>, 3, blind>(
        "seeded:dmp-printed-lock", "printed: rights are not looked at again under the lock", broken),
    explored_by<opacity_in_pages<carrying_over, 2>, 3, uncounted>("seeded:dmp-uncounted", "a withdrawal is not counted",
                                                                  broken),
    explored_by<opacity_in_pages<undoing, 1>, 3, early_unmark>(
        "seeded:dmp-printed-undo", "printed: marks go before what was written is undone", broken),
    explored_by<opacity_in_pages<chasing, 1>, 3, early_pages>(
        "seeded:dmp-printed-commit", "printed: pages are looked at before the commit owns its words", broken),
    explored_by<opacity_in_pages<exchanging, 1>, 3, no_pages>("seeded:dmp-no-pages", "a commit does not look at pages",
                                                              broken),
    explored_by<opacity_in_pages<exchanging, 1>, 3, unpublished>("seeded:dmp-early-unmark",
                                                                 "marks go before the writes are there", broken),
    {"seeded:dmp-printed-none", "printed: a grant that is given up leaves no rights", broken,
     run_served_by<opacity_in_pages<updating, 2>, 3, mixed_dmp_dctl, served_wrongly<wrong::rights_afterwards>>},
    {"seeded:dmp-early-rights", "a right is given before it is counted", broken,
     run_served_by<opacity_in_pages<outpacing, 1>, 3, mixed_dmp_tinystm, served_wrongly<wrong::order>>},
    {"seeded:dmp-no-fence", "a grant looks for writers without a fence", verdict::broken_with_store_buffers,
     run_served_by<opacity_in_pages<undoing, 1>, 3, mixed_dmp_dctl, served_wrongly<wrong::no_fence>>},
    {"seeded:dmp-no-second-look", "a grant does not look for writers again", broken,
     run_served_by<opacity_in_pages<undoing, 1>, 3, mixed_dmp_dctl, served_wrongly<wrong::no_look>>},
    {"seeded:dmp-scout-commits", "a scout that commits", broken,
     run_served_by<opacity_in_pages<undoing, 1>, 3, publishing, tell_nothing>},
    {"seeded:dmp-scout-uncounted", "attempts do not count what they write beside a scout", broken,
     run_served_by<opacity_in_pages<outpacing, 1>, 3, uncounted_writes, tell_nothing>},
};

}  // namespace

std::span<const exploration> tm_pages_seeded_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
