// SPDX-License-Identifier: Apache-2.0
// A barrier: nobody leaves a phase before all have come to it.
#pragma once

#include <memory>
#include <vector>

#include "harness/budget.hpp"
#include "harness/guarded.hpp"

namespace conformance {

/// How the threads come to the barrier.
enum class pace { together, one_late, all_late };

/// arrive_and_wait() of any barrier; true for the last thread of a phase where the barrier tells.
template <class Barrier>
struct told_last {
  static constexpr bool tells = requires(Barrier& barrier) { static_cast<bool>(barrier.arrive_and_wait()); };
  static bool arrive(Barrier& barrier) {
    if constexpr (tells) {
      return barrier.arrive_and_wait();
    } else {
      barrier.arrive_and_wait();
      return false;
    }
  }
};

/// Each thread writes its own plain field before a phase ends and reads its neighbour's after it. What was done before
/// is there; what comes next is not yet there. Two phases a round, so that the reading is over before the next writing.
template <class Barrier, class Field = plain_field>
violation phases(unsigned threads, unsigned rounds_, pace how, std::chrono::milliseconds patience = usual_patience) {
  struct state {
    explicit state(unsigned count) : barrier(count), fields(count) {}
    Barrier barrier;
    std::vector<Field> fields;
    std::atomic<unsigned long> lasts{0};
  };
  const auto shared = std::make_shared<state>(threads);
  violation found = run_team(
      threads,
      [=](seat& me) {
        unsigned long lasts = 0;
        const Field& neighbour = shared->fields[(me.index() + 1) % threads];
        for (unsigned round = 1; round <= rounds_ && !me.given_up(); ++round) {
          const bool late = how == pace::all_late || (how == pace::one_late && round % threads == me.index());
          if (late) std::this_thread::sleep_for(std::chrono::microseconds(100 * (me.index() % 3 + 1)));
          shared->fields[me.index()].set(round);
          me.at("arrive_and_wait() after writing");
          lasts += told_last<Barrier>::arrive(shared->barrier) ? 1 : 0;
          if (neighbour.get() < static_cast<long>(round)) me.fail("released before a thread had arrived");
          if (neighbour.get() > static_cast<long>(round)) me.fail("a thread is a phase ahead");
          me.tick();
          me.at("arrive_and_wait() after reading");
          lasts += told_last<Barrier>::arrive(shared->barrier) ? 1 : 0;
        }
        shared->lasts += lasts;
      },
      patience);
  if (found.empty() && told_last<Barrier>::tells && shared->lasts != 2ul * rounds_) {
    found = std::to_string(shared->lasts) + " threads were told that they were the last, in " +
            std::to_string(2ul * rounds_) + " phases";
  }
  return found;
}

/// A barrier may be destroyed once all have returned from its last phase.
template <class Barrier>
violation used_and_destroyed(unsigned threads, unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
    if (violation found = phases<Barrier>(threads, 2, pace::together); !found.empty()) return found;
  }
  return {};
}

}  // namespace conformance
