// SPDX-License-Identifier: Apache-2.0
// A software block that takes long, beside blocks in hardware: how often it runs, and whether the others go on.
#pragma once

#include <atomic>

#include "explorations/tm_explored.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored {

inline bool runs_in(tm::detail::run_mode mode) noexcept { return tm::detail::runner::mine().mode == mode; }

/// The most runs of a long block's body: one for each abort of its policy, and one that is serial.
constexpr unsigned max_runs = blocks::long_attempts + 1;
/// The most where no other thread runs blocks. What hardware has written may be ahead of the clock. Whoever meets that
/// moves the clock, and may have to begin anew, once.
constexpr unsigned max_runs_alone = 2;
constexpr const char* ran_too_often = "a long block ran more often than stated";

/// In a body: until other threads have counted once more, or for a while. A serial body does not wait: others wait for it.
inline void wait_for_more(const std::atomic<unsigned>& count) noexcept {
  constexpr unsigned max_pauses = 60;
  const unsigned before = count.load();
  const bool waits = runs_in(tm::detail::run_mode::software);
  for (unsigned i = 0; waits && i < max_pauses && count.load() == before; ++i) machine::relax();
}

/// Thread 0's block in software reads two places that others write in hardware. In each run that is not serial, it waits
/// between the two until others have committed. They go on until the block has committed, or for some blocks: in some
/// orders they run first.
struct long_block_test {
  static constexpr unsigned max_blocks = 30;  // of each thread

  apart places[2];
  alignas(64) std::atomic<unsigned> in_hardware{0};  ///< blocks
  alignas(64) std::atomic<unsigned> writers_left{2};
  alignas(64) std::atomic<bool> over{false};
  unsigned runs = 0;
  unsigned runs_alone = 0;

  static void body(long_block_test& me, unsigned index) {
    if (index != 0) return me.write_until_over();
    me.runs = me.run_long_block();
    me.over.store(true);
    while (me.writers_left.load() != 0) machine::relax();
    me.runs_alone = me.run_long_block();
  }

  void write_until_over() {
    for (unsigned i = 0; i < max_blocks && !over.load(); ++i) {
      bool was_in_hardware = false;
      tm::atomically(blocks::writing, [&](auto& tx) {
        was_in_hardware = runs_in(tm::detail::run_mode::hardware);
        for (apart& one : places) tx.write(one.value, tx.read(one.value) + 1);
      });
      if (was_in_hardware) in_hardware.fetch_add(1);
    }
    writers_left.fetch_sub(1);
  }

  unsigned run_long_block() {
    unsigned count = 0;
    tm::atomically(blocks::long_running, [&](auto& tx) {
      ++count;
      const std::uint64_t first = tx.read(places[0].value);
      wait_for_more(in_hardware);
      if (tx.read(places[1].value) != first) note_wrong();
    });
    return count;
  }

  const char* check() const {
    if (runs > max_runs || runs_alone > max_runs_alone) return ran_too_often;
    return check_notes(0, nullptr, nullptr);
  }
};

/// A hardware attempt that writes one place, by the algorithm in use. It leaves out most steps of a block, so that a
/// thread that repeats it moves the clock, or the place's version, every few steps.
inline bool write_in_attempt(apart& place) noexcept {
  using tm::detail::shared;
  tm::detail::runner& me = tm::detail::runner::mine();
  const tm::detail::hardware_half& half = *shared.in_use.load()->in_hardware;
  const bool begun = machine::begin().started();
  if (begun) {
    // relaxed: in the attempt, which aborts if the gate closes
    if (shared.quiescence_gate.load(std::memory_order_relaxed) != tm::detail::gate_open) {
      machine::abort<machine::attempt_status::code_lock_busy>();
    }
    half.begin(me);
    me.mode = tm::detail::run_mode::hardware;
    me.directly.write(place.value, me.directly.read(place.value) + 1);
    half.end(me);
    me.mode = tm::detail::run_mode::idle;
    machine::end();
  }
  me.forget_attempt();
  return begun;
}

// For the test below. A check of so many reads meets some writes. They are few enough for checks with a bound to fit into
// a schedule.
constexpr unsigned values_read = 40;
constexpr unsigned records_read = 96;

/// Thread 0's block in software reads many places that nobody writes. Before its last access, the other thread begins to
/// write without a pause. So most times when all that was read has been checked, the clock or a version has moved again.
/// One access must not check for ever: a schedule in which it does has too many steps.
template <unsigned length>
struct moved_clock_test {
  static constexpr unsigned max_writes = 300;  // in some orders they come first

  apart places[length + 1];
  alignas(64) std::atomic<unsigned> written{0};
  alignas(64) std::atomic<bool> moves{false};
  alignas(64) std::atomic<bool> over{false};
  unsigned runs = 0;

  static void body(moved_clock_test& me, unsigned index) {
    if (index != 0) return me.write_until_over();
    tm::atomically(blocks::long_running, [&](auto& tx) {
      me.moves.store(false);
      ++me.runs;
      for (unsigned i = 0; i < length; ++i) static_cast<void>(tx.read(me.places[i].value));
      me.moves.store(true);
      wait_for_more(me.written);
      static_cast<void>(tx.read(me.places[length].value));
    });
    me.over.store(true);
  }
  void write_until_over() {
    for (unsigned i = 0; i < max_writes && !over.load(); ++i) {
      while (!moves.load() && !over.load()) machine::relax();
      if (write_in_attempt(places[length])) written.fetch_add(1);
    }
  }
  const char* check() const { return runs > max_runs ? ran_too_often : nullptr; }
};

/// Thread 0's block in software has written a place, and ends only when blocks of both other threads have committed.
/// They use other places. `goes_on`: they also read what it has written, since it owns nothing before its commit.
template <bool goes_on>
struct stuck_block_test {
  static constexpr unsigned each = 2;
  apart places[3];
  alignas(64) std::atomic<unsigned> left{2 * each};

  static void body(stuck_block_test& me, unsigned index) {
    if (index == 0) {
      return tm::atomically(blocks::long_running, [&](auto& tx) {
        tx.write(me.places[0].value, 1);
        while (me.left.load() != 0) machine::relax();
      });
    }
    for (unsigned i = 0; i < each; ++i) {
      tm::atomically(blocks::writing, [&](auto& tx) {
        if (goes_on && tx.read(me.places[0].value) != 0) note_wrong();
        tx.write(me.places[index].value, tx.read(me.places[index].value) + 1);
      });
      me.left.fetch_sub(1);
    }
  }
  const char* check() const {
    for (unsigned index : {1u, 2u}) {
      if (places[index].value.load() != each) return "a write was lost";
    }
    return places[0].value.load() != 1 ? "the long block was lost" : check_notes(0, nullptr, nullptr);
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored
