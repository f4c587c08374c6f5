// SPDX-License-Identifier: Apache-2.0
// Transactional memories with one fault each (they are dctl except for one function), and a container with a fault.
// Exploring has to find every one of them.
#include "explorations/tm_containers.hpp"
#include "explorations/tm_long.hpp"
#include "explorations/tm_opacity.hpp"
#include "explorations/tm_sharing.hpp"
#include "tm/hybrid/announcements.hpp"
#include "tm/stm/parts.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

using namespace explored;
using tm::detail::algorithm;
using tm::detail::engine;
using tm::detail::hardware_half;
using tm::detail::orec;
using tm::detail::owned_orec;
using tm::detail::release_at;
using tm::detail::runner_of;
using tm::detail::shared;
using tm::detail::stripe_set;

const algorithm& right_one = tm::detail::dctl;

/// dctl's functions, because a constant-initialised table cannot copy them.
constexpr algorithm like_dctl = {
    .name = "",
    .summary = "",
    .begin = [](engine& me) { right_one.begin(me); },
    .read = [](engine& me, const tm::word& cell, orec& record) { return right_one.read(me, cell, record); },
    .write = [](engine& me, tm::word& cell, orec& record,
                std::uint64_t value) { right_one.write(me, cell, record, value); },
    .commit = [](engine& me) { return right_one.commit(me); },
    .roll_back = [](engine& me) noexcept { right_one.roll_back(me); },
    .roll_back_to = [](engine& me, const tm::detail::log_mark& mark) noexcept { right_one.roll_back_to(me, mark); },
    .is_valid = [](engine& me) noexcept { return right_one.is_valid(me); },
    .add_reads = [](engine& me, stripe_set& into) noexcept { right_one.add_reads(me, into); },
    .add_writes = [](engine& me, stripe_set& into) noexcept { right_one.add_writes(me, into); },
};

/// Commits without validation of its reads.
constexpr algorithm without_validation() {
  algorithm made = like_dctl;
  made.commit = [](engine& me) {
    if (me.owned.empty()) return false;
    release_at(me, shared.clock.load());
    return true;
  };
  return made;
}

/// Releases its words before it has restored them.
constexpr algorithm released_before_undo() {
  algorithm made = like_dctl;
  made.roll_back = [](engine& me) noexcept {
    if (!me.owned.empty()) release_at(me, shared.clock.fetch_add(1));
    me.owned.clear();
    undo_from(me, 0);
  };
  return made;
}

/// Undoes everything, but releases its words with their old versions. A thread that has read in between notices
/// nothing.
constexpr algorithm with_old_versions() {
  algorithm made = like_dctl;
  made.roll_back = [](engine& me) noexcept {
    undo_from(me, 0);
    for (const owned_orec& one : me.owned) one.record->store(one.version, std::memory_order_release);
    me.owned.clear();
  };
  return made;
}

/// Buffers what it writes, and acquires ownership in its commit, but releases it before it stores. For programs that do
/// not read what they have written.
constexpr algorithm released_before_write_back() {
  algorithm made = like_dctl;
  made.begin = [](engine& me) {
    right_one.begin(me);
    me.in_place = engine::nobody;
  };
  made.write = [](engine& me, tm::word& cell, orec&, std::uint64_t value) { me.undo.append({&cell, value}); };
  made.commit = [](engine& me) {
    const std::size_t count = me.undo.size();
    // A word is owned by writing its own value to it; these writes follow the buffered values.
    for (std::size_t i = 0; i < count; ++i) {
      tm::word& cell = *me.undo[i].cell;
      right_one.write(me, cell, engine::orec_of(cell), cell.load());
    }
    const bool wrote = right_one.commit(me);
    for (std::size_t i = 0; i < count; ++i) me.undo[i].cell->store(me.undo[i].value);
    return wrote;
  };
  made.roll_back = [](engine& me) noexcept {
    me.undo.clear();
    right_one.roll_back(me);
  };
  return made;
}

/// Reads the clock only after its first read, before the second one.
constexpr algorithm with_late_clock() {
  algorithm made = like_dctl;
  made.begin = [](engine& me) {
    right_one.begin(me);
    me.set_bound(0);
  };
  made.read = [](engine& me, const tm::word& cell, orec& record) {
    if (me.bound() != 0) return right_one.read(me, cell, record);
    const bool is_first = me.reads.empty() && !me.has_unlogged;
    me.set_bound(is_first ? tm::detail::owned_bit : shared.clock.load());
    const std::uint64_t seen = right_one.read(me, cell, record);
    if (is_first) me.set_bound(0);
    return seen;
  };
  made.write = [](engine& me, tm::word& cell, orec& record, std::uint64_t value) {
    if (me.bound() == 0) me.set_bound(shared.clock.load());
    right_one.write(me, cell, record, value);
  };
  return made;
}

/// Forgets that it has to wait for quiescence.
constexpr algorithm without_quiescence() {
  algorithm made = like_dctl;
  made.commit = [](engine& me) {
    const bool wrote = right_one.commit(me);
    me.privatizes = false;
    return wrote;
  };
  return made;
}

/// Frees what it has destroyed while others may still read it.
constexpr algorithm freeing_at_once() {
  algorithm made = like_dctl;
  made.commit = [](engine& me) {
    const bool wrote = right_one.commit(me);
    for (const tm::detail::heap_object& one : me.gone) one.destroy(one.object);
    me.gone.clear();
    return wrote;
  };
  return made;
}

/// Does not notify others of what it has written.
constexpr algorithm telling_nobody() {
  algorithm made = like_dctl;
  made.add_writes = [](engine&, stripe_set&) noexcept {};
  return made;
}

/// Sleeps without checking whether the condition still holds.
constexpr algorithm sleeping_blindly() {
  algorithm made = like_dctl;
  made.is_valid = nullptr;
  return made;
}

/// Inserts and assigns in two blocks. What the first one has seen may no longer hold in the second one.
struct in_two_blocks {
  static std::uint32_t perform(sorted_list_program& program, const operation& one) {
    if (what_of(one) != ask::insert && what_of(one) != ask::assign) return in_one_block::perform(program, one);
    auto& all = program.all;
    const std::uint64_t key = key_of(one);
    const bool is_there = tm::atomically(blocks::reading, [&](auto& tx) { return all.contains(tx, key); });
    if (is_there && what_of(one) == ask::insert) return 0;
    tm::atomically(blocks::writing, [&](auto& tx) { all.assign(tx, key, {value_of(one), {}}); });
    return !is_there;
  }
};

// Hardware attempts with a fault, beside a right software half.

/// Does not look whether a software transaction commits.
template <const algorithm& how>
constexpr hardware_half without_subscription() {
  hardware_half made = mixed_half<how>;
  made.begin = [](engine& me) noexcept {
    abort_if_in_software();
    me.duties = &how == &tm::detail::hynorec ? tm::detail::notes_writes : tm::detail::marks_writes;
    me.lead = 1;
  };
  return made;
}

/// Looks before the attempt, not within it, whether software transactions run.
constinit thread_local bool others_ran = false;
constexpr hardware_half with_early_look_of_hynorec() {
  hardware_half made = mixed_half<tm::detail::hynorec>;
  made.prepare = [](engine& me) noexcept {
    choose_side();
    others_ran = others_are_announced(tm::detail::runner_of(me));
  };
  made.end = [](engine& me) noexcept {
    if (others_ran) tm::detail::hynorec.in_hardware->end(me);
  };
  return made;
}
constexpr hardware_half with_early_look_of_hydctl() {
  hardware_half made = mixed_half<tm::detail::hydctl>;
  made.prepare = with_early_look_of_hynorec().prepare;
  made.begin = [](engine& me) noexcept {
    abort_if_in_software();
    if (others_ran) me.duties = tm::detail::checks_reads | tm::detail::marks_writes;
  };
  return made;
}

/// Looks at no record, whether software transactions run or not.
constexpr hardware_half without_records() {
  hardware_half made = mixed_half<tm::detail::hydctl>;
  made.begin = [](engine&) noexcept { abort_if_in_software(); };
  return made;
}

/// Gives words the clock's value as a version, which software of tl2 and tinystm accepts.
template <const algorithm& how>
constexpr hardware_half with_old_clock() {
  hardware_half made = mixed_half<how>;
  made.begin = [](engine& me) noexcept {
    abort_if_in_software();
    how.in_hardware->begin(me);
    me.lead = 0;
  };
  return made;
}

/// Attempts of hytinystm look at no record.
constexpr hardware_half reading_plainly() {
  hardware_half made = mixed_half<tm::detail::hytinystm>;
  made.begin = [](engine& me) noexcept {
    abort_if_in_software();
    me.duties = tm::detail::marks_writes;
    me.lead = 1;
  };
  return made;
}

/// A commit trusts the clock, which attempts do not move.
algorithm trusting_clock(const algorithm& how) {
  algorithm made = how;
  made.beside_hardware = false;
  return made;
}

// Software halves that let a long block run, or one of its accesses last, as long as attempts move the clock.

/// Aborts do not count, so no block ever runs serially because of them.
template <const algorithm& how>
algorithm without_count() {
  algorithm made = how;
  made.roll_back = [](engine& me) noexcept {
    how.roll_back(me);
    runner_of(me).failures = 0;
  };
  return made;
}

/// Checks what was read again and again, until the clock stands still meanwhile.
algorithm checking_for_ever() {
  algorithm made = tm::detail::hynorec;
  made.read = [](engine& me, const tm::word& cell, orec& record) {
    while (shared.clock.load() != runner_of(me).start) static_cast<void>(tm::detail::norec_parts::is_valid(me));
    return tm::detail::hynorec.read(me, cell, record);
  };
  return made;
}

/// Moves its snapshot again and again, until the record stands still meanwhile.
template <const algorithm& how>
algorithm extending_for_ever() {
  algorithm made = how;
  made.read = [](engine& me, const tm::word& cell, orec& record) {
    for (;;) {
      const std::uint64_t seen = record.load();
      if (tm::detail::is_owned(seen) || seen < me.bound() || me.has_unlogged) return how.read(me, cell, record);
      const std::uint64_t now = tm::detail::clock_past(seen + 1);
      if (!orecs_are_valid(me)) restart(me, abort_cause::validation);
      me.set_bound(now);
    }
  };
  return made;
}

/// Does not move the clock to a version that it meets, and so meets it again.
algorithm leaving_the_clock() {
  algorithm made = tm::detail::hytl2;
  made.read = [](engine& me, const tm::word& cell, orec& record) {
    const std::uint64_t seen = record.load();
    if (!tm::detail::is_owned(seen) && seen >= runner_of(me).start) restart(me, abort_cause::validation);
    return tm::detail::hytl2.read(me, cell, record);
  };
  return made;
}

constexpr hardware_half hynorec_unsubscribed = without_subscription<tm::detail::hynorec>();
constexpr hardware_half hytl2_unsubscribed = without_subscription<tm::detail::hytl2>();
constexpr hardware_half hynorec_early = with_early_look_of_hynorec();
constexpr hardware_half hydctl_early = with_early_look_of_hydctl();
constexpr hardware_half hydctl_plain = without_records();
constexpr hardware_half hytinystm_plain = reading_plainly();
constexpr hardware_half hytl2_old = with_old_clock<tm::detail::hytl2>();
constexpr hardware_half hytinystm_old = with_old_clock<tm::detail::hytinystm>();
const algorithm unsubscribed_hynorec = mixed(tm::detail::hynorec, hynorec_unsubscribed);
const algorithm unsubscribed_hytl2 = mixed(tm::detail::hytl2, hytl2_unsubscribed);
const algorithm early_hynorec = mixed(tm::detail::hynorec, hynorec_early);
const algorithm early_hydctl = mixed(tm::detail::hydctl, hydctl_early);
const algorithm plain_hydctl = mixed(tm::detail::hydctl, hydctl_plain);
const algorithm plain_hytinystm = mixed(tm::detail::hytinystm, hytinystm_plain);
const algorithm old_hytl2 = mixed(tm::detail::hytl2, hytl2_old);
const algorithm old_hytinystm = mixed(tm::detail::hytinystm, hytinystm_old);
const algorithm trusting_hytl2 = trusting_clock(mixed_hytl2);
const algorithm trusting_hytinystm = trusting_clock(mixed_hytinystm);
const algorithm uncounted_hydctl = without_count<tm::detail::hydctl>();
const algorithm uncounted_hynorec = without_count<tm::detail::hynorec>();
const algorithm uncounted_hytinystm = without_count<tm::detail::hytinystm>();
const algorithm uncounted_hytl2 = without_count<tm::detail::hytl2>();
const algorithm checking_hynorec = checking_for_ever();
const algorithm extending_hydctl = extending_for_ever<tm::detail::hydctl>();
const algorithm extending_hytinystm = extending_for_ever<tm::detail::hytinystm>();
const algorithm unmoved_hytl2 = leaving_the_clock();

constinit const algorithm no_validation = without_validation();
constinit const algorithm early_release = released_before_undo();
constinit const algorithm old_versions = with_old_versions();
constinit const algorithm early_unlock = released_before_write_back();
constinit const algorithm late_clock = with_late_clock();
constinit const algorithm no_quiescence = without_quiescence();
constinit const algorithm at_once = freeing_at_once();
constinit const algorithm untold = telling_nobody();
constinit const algorithm blind = sleeping_blindly();

constexpr auto broken = verdict::broken;

constexpr exploration table[] = {
    explored_by<opacity_test<skewing>, 3, no_validation>("seeded:tm-no-validation",
                                                         "a commit that does not look at what was read", broken),
    explored_by<opacity_test<crossing>, 2, early_release>(
        "seeded:tm-released-before-undo", "an abort that gives words up before it has undone them", broken),
    explored_by<opacity_test<throwing>, 2, old_versions>("seeded:tm-old-versions",
                                                         "an abort that leaves the versions as they were", broken),
    explored_by<opacity_test<skewing>, 3, early_unlock>(
        "seeded:tm-released-before-write-back", "a commit that gives words up before it has written them", broken),
    explored_by<opacity_test<overtaking>, 2, late_clock>("seeded:tm-late-clock",
                                                         "the clock is read after the first value", broken),
    explored_by<privatizing_test<2>, 2, no_quiescence>("seeded:tm-no-quiescence", "privatize() does not wait", broken),
    explored_by<destroying_test, 3, at_once>("seeded:tm-freed-at-once", "destroy() does not wait", broken),
    explored_by<linearizable_test<sorted_list_program, in_two_blocks>, askers, tm::detail::dctl>(
        "seeded:tm-two-blocks", "an insert that looks in one block and writes in another", broken),
    explored_by<linearizable_test<vector_program>, askers, no_validation>(
        "seeded:tm-vector-no-validation", "a vector under a commit that does not look at what was read", broken),
    explored_by<handing_test<2, 2>, 2, untold>("seeded:tm-untold", "a commit that wakes nobody", broken),
    explored_by<handing_test<2, 2>, 2, blind>("seeded:tm-blind-sleep", "retry() does not look again before it sleeps",
                                              broken),
    explored_by<opacity_test<crossing>, 2, unsubscribed_hynorec>(
        "seeded:hynorec-unsubscribed", "attempts that do not look whether software commits", broken),
    explored_by<opacity_test<crossing>, 2, unsubscribed_hytl2>(
        "seeded:hytl2-unsubscribed", "attempts that do not look whether software commits", broken),
    explored_by<opacity_test<crossing>, 2, early_hynorec>("seeded:hynorec-early-look",
                                                          "attempts that look too early whether software runs", broken),
    explored_by<opacity_test<crossing>, 2, early_hydctl>("seeded:hydctl-early-look",
                                                         "attempts that look too early whether software runs", broken),
    explored_by<opacity_test<crossing>, 2, plain_hydctl>("seeded:hydctl-no-records",
                                                         "attempts that look at no record beside dctl", broken),
    explored_by<opacity_test<crossing>, 2, plain_hytinystm>("seeded:hytinystm-no-records",
                                                            "attempts that read without a look at records", broken),
    explored_by<opacity_test<crossing>, 2, old_hytl2>("seeded:hytl2-old-clock",
                                                      "attempts that write a version that software accepts", broken),
    explored_by<opacity_test<crossing>, 2, old_hytinystm>(
        "seeded:hytinystm-old-clock", "attempts that write a version that software accepts", broken),
    explored_by<opacity_test<skewing>, 3, trusting_hytl2>("seeded:hytl2-trusts-clock",
                                                          "a commit that takes an unmoved clock for no writes", broken),
    explored_by<opacity_test<skewing>, 3, trusting_hytinystm>(
        "seeded:hytinystm-trusts-clock", "a commit that takes an unmoved clock for no writes", broken),
    explored_by<long_block_test, 3, uncounted_hydctl>("seeded:hydctl-uncounted", "aborts that do not count", broken),
    explored_by<long_block_test, 3, uncounted_hynorec>("seeded:hynorec-uncounted", "aborts that do not count", broken),
    explored_by<long_block_test, 3, uncounted_hytinystm>("seeded:hytinystm-uncounted", "aborts that do not count",
                                                         broken),
    explored_by<long_block_test, 3, uncounted_hytl2>("seeded:hytl2-uncounted", "aborts that do not count", broken),
    explored_by<moved_clock_test<values_read>, 2, checking_hynorec>(
        "seeded:hynorec-checks-for-ever", "one access checks what was read without a bound", broken),
    explored_by<moved_clock_test<records_read>, 2, extending_hydctl>(
        "seeded:hydctl-extends-for-ever", "one access moves the snapshot without a bound", broken),
    explored_by<moved_clock_test<records_read>, 2, extending_hytinystm>(
        "seeded:hytinystm-extends-for-ever", "one access moves the snapshot without a bound", broken),
    explored_by<long_block_test, 3, unmoved_hytl2>("seeded:hytl2-leaves-clock",
                                                   "who meets a version does not move the clock to it", broken),
};

}  // namespace

std::span<const exploration> tm_seeded_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
