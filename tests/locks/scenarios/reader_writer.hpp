// SPDX-License-Identifier: Apache-2.0
// Readers together, a writer alone, and who lets whom in. What the compiler makes of a lock's own functions is the
// question in the first two; the others are about any_shared_lock.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>

#include "harness/any_shared_lock.hpp"
#include "harness/guarded.hpp"
#include "scenarios/exclusion.hpp"

namespace conformance {

/// What one thread of a team does with the lock that an any_shared_lock stands for. It is compiled for the lock's own
/// type; the team around it is compiled once. Returns how often it wrote.
template <class Field>
using shared_sections_of = long (*)(seat& me, any_shared_lock& lock, guarded<Field>& data, unsigned writers,
                                    unsigned sections, inside what);

template <class Field>
violation run_shared_sections(const shared_lock_kind& kind, shared_sections_of<Field> sections_of_thread,
                              unsigned threads, unsigned writers, unsigned sections, inside what,
                              std::chrono::milliseconds patience) {
  any_shared_lock::next_kind = &kind;
  const auto shared = std::make_shared<guarded_by<any_shared_lock, Field>>();
  const auto written = std::make_shared<std::atomic<long>>(0);
  violation found = run_team(
      threads,
      [=](seat& me) { *written += sections_of_thread(me, shared->lock, shared->data, writers, sections, what); },
      patience);
  return found.empty() ? shared->data.count_is(*written) : found;
}

template <class Lock, class Field>
long read_or_write(seat& me, any_shared_lock& any, guarded<Field>& data, unsigned writers, unsigned sections,
                   inside what) {
  Lock& lock = any.as<Lock>();
  const bool writes = me.index() < writers;
  for (unsigned round = 0; round < sections && !me.given_up(); ++round) {
    if (writes) {
      me.at("lock()");
      const std::lock_guard writing(lock);
      data.update(me, what, round);
    } else {
      me.at("lock_shared()");
      const std::shared_lock reading(lock);
      data.look(me, what, round);
    }
    me.tick();
    think(me, what, round);
  }
  return writes ? long{sections} : 0;
}

/// The first `writers` of the threads write, the others read; all see whole states only.
template <class Lock, class Field = plain_field>
violation readers_and_writers(unsigned threads, unsigned writers, unsigned sections, inside what,
                              std::chrono::milliseconds patience = usual_patience) {
  return run_shared_sections<Field>(shared_kind_of<Lock>, read_or_write<Lock, Field>, threads, writers, sections, what,
                                    patience);
}

template <class Lock, class Field>
long enter_all_ways(seat& me, any_shared_lock& any, guarded<Field>& data, unsigned, unsigned sections, inside what) {
  Lock& lock = any.as<Lock>();
  long written = 0;
  for (unsigned round = 0; round < sections && !me.given_up(); ++round) {
    const unsigned way = (round * 7 + me.index()) % 8;
    me.at(way < 4 ? "shared" : "exclusive");
    if (way < 4) {
      if (way != 0 || !lock.try_lock_shared()) lock.lock_shared();
      data.look(me, what, round);
      lock.unlock_shared();
    } else {
      if (way != 4 || !lock.try_lock()) lock.lock();
      data.update(me, what, round);
      ++written;
      lock.unlock();
    }
    me.tick();
    think(me, what, round);
  }
  return written;
}

/// Every thread mixes all four ways in.
template <class Lock, class Field = plain_field>
violation all_ways_in(unsigned threads, unsigned sections, inside what,
                      std::chrono::milliseconds patience = usual_patience) {
  return run_shared_sections<Field>(shared_kind_of<Lock>, enter_all_ways<Lock, Field>, threads, threads, sections, what,
                                    patience);
}

/// All readers are inside at the same time: each waits there for the others.
violation readers_meet_inside(unsigned threads, unsigned times, std::chrono::milliseconds patience = usual_patience);

/// What the tries answer while another thread holds the lock in one of its modes, or not at all.
violation tries_tell_the_truth(unsigned times, std::chrono::milliseconds patience = usual_patience);

/// A writer that came while readers were inside gets in when they have left, and lets in the readers that came after.
violation modes_hand_over(unsigned readers, unsigned times, waits how,
                          std::chrono::milliseconds patience = usual_patience);

/// Readers leave only after another one has come (or seems to be kept out). Without a rule for writers the lock would
/// never be free of readers. The writer must get in `times` times.
violation writer_gets_in(unsigned readers, unsigned times, std::chrono::milliseconds patience = usual_patience);

/// The same the other way round: writers that follow each other without a gap, and a reader that must get in.
violation reader_gets_in(unsigned writers, unsigned times, std::chrono::milliseconds patience = usual_patience);

}  // namespace conformance
