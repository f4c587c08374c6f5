// SPDX-License-Identifier: Apache-2.0
// What explorations of atomic blocks share: the same state for each schedule, and notes of what blocks see.
#pragma once

#include <txsync_backend/runtime.h>
#include <txsync/tm.hpp>

#include "explorations/exploration.hpp"
#include "explorations/opacity.hpp"
#include "tm/algorithms.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored {

/// A value in its own ownership record, or in the same one as its neighbour.
struct alignas(64) apart {
  tm::var<std::uint64_t> value;
};
struct together {
  tm::var<std::uint64_t> value;
};

/// The blocks of all tests. Sites are never freed, so there are few.
struct blocks {
  // Few attempts, so that a schedule in which threads always conflict is not too long.
  static constinit tm::block writing;
  static constinit tm::block reading;
  static constinit tm::block carrying;  ///< as writing, for a thread whose block has not written in software
  static constinit tm::block alone;     ///< serial after its second abort
  static constinit tm::block at_once;   ///< serial from the start
  static constinit tm::block irrevocable;
  static constexpr std::uint32_t long_attempts = 2;
  static constinit tm::block long_running;  ///< in software only, serial after so many aborts
};

/// The first thread calls these before and after a test, when no other thread runs. All transactions then run by `how`,
/// and nothing is left of earlier ones that could influence them. They take the same steps each time.
void begin_anew(const tm::detail::algorithm& how);
void end_schedule();

/// `biased`: the quiescence gate also gets a bias, as soon as possible, for the thread that runs the first block. Only
/// dctl uses it.
template <class Test, unsigned threads, const tm::detail::algorithm& how, bool biased>
const char* run_by() {
  begin_anew(how);
  if constexpr (biased) tm::detail::look_early();
  const char* const fault = run_anew<Test, threads>();
  end_schedule();
  return fault;
}

/// A row of a table.
template <class Test, unsigned threads, const tm::detail::algorithm& how, bool biased = false>
constexpr exploration explored_by(const char* name, const char* summary, verdict expected = verdict::right) {
  return {name, summary, expected, run_by<Test, threads, how, biased>};
}

/// Hybrids of which about every second block goes on in software, and each other one tries the hardware first. So what
/// is looked at is how the two sides meet.
extern const tm::detail::algorithm mixed_hydctl;
extern const tm::detail::algorithm mixed_hynorec;
extern const tm::detail::algorithm mixed_hytinystm;
extern const tm::detail::algorithm mixed_hytl2;
/// The same of dmp: the seed of the schedule decides for each block on which side it is. On the hardware's, it makes few
/// attempts before it runs alone.
extern const tm::detail::algorithm mixed_dmp_dctl;
extern const tm::detail::algorithm mixed_dmp_norec;
extern const tm::detail::algorithm mixed_dmp_tinystm;
/// The calling thread's next block begins, for those.
void choose_side_of_block() noexcept;
/// That of `how`, with other hardware attempts.
tm::detail::algorithm mixed(const tm::detail::algorithm& how, const tm::detail::hardware_half& attempts);
/// For hardware_half::prepare and ::begin of a mixed one: whether the attempt that follows is one.
void choose_side() noexcept;
void abort_if_in_software() noexcept;

/// The hardware attempts of `how`, except those of blocks that go on in software.
template <const tm::detail::algorithm& how>
constexpr tm::detail::hardware_half mixed_half = {
    .prepare =
        [](tm::detail::engine& me) noexcept {
          choose_side();
          how.in_hardware->prepare(me);
        },
    .begin =
        [](tm::detail::engine& me) noexcept {
          abort_if_in_software();
          how.in_hardware->begin(me);
        },
    .end = [](tm::detail::engine& me) noexcept { how.in_hardware->end(me); },
    .may_try =
        [](const tm::detail::engine& me) noexcept {
          return how.in_hardware->may_try == nullptr || how.in_hardware->may_try(me);
        },
};

/// Gives `rows(name, how...)` for each algorithm; `how` is what explored_by() takes.
#define TXSYNC_EXPLORED_BY_ALL(rows)                                                                                  \
  rows("dctl", tm::detail::dctl), rows("dctl-biased", tm::detail::dctl, true),                                        \
      rows("htm_sgl_adaptive", tm::detail::htm_sgl_adaptive), rows("norec", tm::detail::norec),                       \
      rows("sgl", tm::detail::sgl), rows("tinystm_wb", tm::detail::tinystm_wb),                                       \
      rows("tinystm_wt", tm::detail::tinystm_wt), rows("tl2", tm::detail::tl2), rows("2plsf", tm::detail::two_phase), \
      rows("auto", tm::detail::automatic), rows("auto-biased", tm::detail::automatic, true),                          \
      rows("hydctl", mixed_hydctl), rows("hynorec", mixed_hynorec), rows("hytinystm", mixed_hytinystm),               \
      rows("hytl2", mixed_hytl2)

/// Notes an event, and returns a value that no other note has.
std::uint32_t note(event::kind what, unsigned thread, unsigned place = 0, std::uint32_t value = 0) noexcept;
/// Notes that something was seen that must not be.
void note_wrong() noexcept;

/// What was noted, in order.
std::uint32_t note_count() noexcept;
event note_at(std::uint32_t which) noexcept;

/// Null, or what is wrong with the noted history. At its end, the places hold `last`.
const char* check_notes(unsigned places, std::uint32_t (*last)(const void* test, unsigned place), const void* test);

/// The same for a test whose places are `places`, each with a `value`.
template <class Test>
const char* check_places(const Test& test, unsigned count) {
  return check_notes(
      count,
      [](const void* raw, unsigned which) {
        return static_cast<std::uint32_t>(static_cast<const Test*>(raw)->places[which].value.load());
      },
      &test);
}

/// A transaction that notes what it does to the places of a test.
template <class Transaction, class Place>
class noted {
 public:
  noted(Transaction& tx, Place* places, unsigned thread) noexcept : tx_(tx), places_(places), thread_(thread) {}
  std::uint64_t read(unsigned place) {
    const std::uint64_t seen = tx_.read(places_[place].value);
    note(event::kind::reads, thread_, place, static_cast<std::uint32_t>(seen));
    return seen;
  }
  void write(unsigned place) { tx_.write(places_[place].value, note(event::kind::writes, thread_, place)); }
  Transaction& plain() noexcept { return tx_; }

 private:
  Transaction& tx_;
  Place* places_;
  unsigned thread_;
};

/// Runs code(noted) as a block.
template <class Place, class Code>
void transact(tm::block& where, Place* places, unsigned thread, const Code& code) {
  note(event::kind::asks, thread);
  choose_side_of_block();
  tm::atomically(where, [&](auto& tx) {
    note(event::kind::begins, thread);
    noted on(tx, places, thread);
    code(on);
  });
  note(event::kind::commits, thread);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored
