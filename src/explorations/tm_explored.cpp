// SPDX-License-Identifier: Apache-2.0
#include "explorations/tm_explored.hpp"

#include "tm/hybrid/announcements.hpp"
#include "tm/hybrid/path_choice.hpp"
#include "tm/partition/pages.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored {

namespace {

constexpr unsigned max_threads = 4;  // that run blocks at the same time
constexpr std::uint64_t wrong = ~std::uint64_t{0};

constinit bool has_begun = false;
/// Attempts that mixed hybrids have prepared.
constinit std::atomic<unsigned> prepared{0};
constinit thread_local bool is_for_software = false;

/// For all tests, so that each of them begins alike.
void map_heap() {
  constexpr std::size_t pages = 2;
  if (!tm::detail::heap_pages.make(pages * machine::page_size(), machine::page_size()) || !tm::detail::divide_memory())
    __builtin_trap();
}

void forget_all() {
  for (tm::block* const one : {&blocks::writing, &blocks::reading, &blocks::carrying, &blocks::alone, &blocks::at_once,
                               &blocks::irrevocable, &blocks::long_running}) {
    one->forget();
    static_cast<void>(one->id());  // numbered now, so that no schedule has to
  }
  tm::detail::runner::begin_anew(max_threads);
  tm::detail::heap_pages.begin_anew();
}

}  // namespace

constinit tm::block blocks::writing{"explored.writing", {.attempts = 8}};
constinit tm::block blocks::reading{"explored.reading", {.attempts = 8}};
constinit tm::block blocks::carrying{"explored.carrying", {.attempts = 8}};
constinit tm::block blocks::alone{"explored.alone", {.attempts = 2}};
constinit tm::block blocks::at_once{"explored.at_once", {.attempts = 0, .hardware_attempts = 0}};
constinit tm::block blocks::irrevocable{"explored.irrevocable", {.irrevocable = true}};
constinit tm::block blocks::long_running{"explored.long", {.attempts = long_attempts, .hardware_attempts = 0}};

void begin_anew(const tm::detail::algorithm& how) {
  if (!has_begun) {
    map_heap();
    forget_all();
    txsync_sim_schedule_begin(0);  // because a schedule must not contain so many extra steps
    has_begun = true;
  }
  prepared.store(0);
  tm::detail::withdraw_early();
  tm::detail::alternate_paths();
  tm::detail::shared.in_use.store(&how);
}

void choose_side() noexcept { is_for_software = prepared.fetch_add(1) % 2 != 0; }
void abort_if_in_software() noexcept {
  if (is_for_software) machine::abort<machine::attempt_status::code_fall_back>();
}

tm::detail::algorithm mixed(const tm::detail::algorithm& how, const tm::detail::hardware_half& attempts) {
  tm::detail::algorithm made = how;
  made.in_hardware = &attempts;
  made.hardware_tries = 0;
  return made;
}

using tm::detail::algorithm;

const algorithm mixed_hydctl = mixed(tm::detail::hydctl, mixed_half<tm::detail::hydctl>);
const algorithm mixed_hynorec = mixed(tm::detail::hynorec, mixed_half<tm::detail::hynorec>);
const algorithm mixed_hytinystm = mixed(tm::detail::hytinystm, mixed_half<tm::detail::hytinystm>);
const algorithm mixed_hytl2 = mixed(tm::detail::hytl2, mixed_half<tm::detail::hytl2>);

namespace {

constinit thread_local unsigned blocks_begun = 0;
constinit thread_local bool block_is_for_software = false;

/// One attempt to learn that a right is missing, and two that may meet another thread.
constexpr std::uint32_t few_tries = 3;

/// dmp's attempts are the same over each software algorithm.
const tm::detail::hardware_half with_chosen_sides = [] {
  tm::detail::hardware_half made = *tm::detail::dmp_dctl.in_hardware;
  made.may_try = [](const tm::detail::engine& me) noexcept {
    return !block_is_for_software && tm::detail::dmp_dctl.in_hardware->may_try(me);
  };
  return made;
}();

algorithm with_few_tries(const algorithm& how) {
  algorithm made = mixed(how, with_chosen_sides);
  made.hardware_tries = few_tries;
  return made;
}

}  // namespace

const algorithm mixed_dmp_dctl = with_few_tries(tm::detail::dmp_dctl);
const algorithm mixed_dmp_norec = with_few_tries(tm::detail::dmp_norec);
const algorithm mixed_dmp_tinystm = with_few_tries(tm::detail::dmp_tinystm);

void choose_side_of_block() noexcept {
  // Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014: mix64
  std::uint64_t drawn = txsync_sim_seed() * 64 + std::uint64_t{machine::thread_id()} * 8 + blocks_begun++;
  drawn = (drawn ^ drawn >> 33) * 0xFF51'AFD7'ED55'8CCD;
  drawn = (drawn ^ drawn >> 33) * 0xC4CE'B9FE'1A85'EC53;
  block_is_for_software = (drawn >> 63) != 0;
}

void end_schedule() { forget_all(); }

std::uint32_t note(event::kind what, unsigned thread, unsigned place, std::uint32_t value) noexcept {
  return txsync_sim_note(std::uint64_t{static_cast<std::uint8_t>(what)} << 48 | std::uint64_t{thread} << 40 |
                         std::uint64_t{place} << 32 | value) +
         1;
}

void note_wrong() noexcept { txsync_sim_note(wrong); }

std::uint32_t note_count() noexcept { return txsync_sim_note_count(); }

event note_at(std::uint32_t which) noexcept {
  const std::uint64_t word = txsync_sim_note_at(which);
  return {static_cast<event::kind>(word >> 48), static_cast<std::uint8_t>(word >> 40),
          static_cast<std::uint8_t>(word >> 32), static_cast<std::uint32_t>(word)};
}

const char* check_notes(unsigned places, std::uint32_t (*last)(const void* test, unsigned place), const void* test) {
  opacity_checker checker;
  for (std::uint32_t i = 0; i < note_count(); ++i) {
    if (txsync_sim_note_at(i) == wrong) return "a transaction saw what must not be";
    event one = note_at(i);
    if (one.what == event::kind::writes) one.value = i + 1;
    checker.add(one);
  }
  // The final content, as one more transaction.
  constexpr std::uint8_t reader = opacity_checker::max_threads - 1;
  checker.add({event::kind::asks, reader, 0, 0});
  checker.add({event::kind::begins, reader, 0, 0});
  for (unsigned i = 0; i < places; ++i) {
    checker.add({event::kind::reads, reader, static_cast<std::uint8_t>(i), last(test, i)});
  }
  checker.add({event::kind::commits, reader, 0, 0});
  return checker.fault();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored
