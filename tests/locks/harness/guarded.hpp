// SPDX-License-Identifier: Apache-2.0
// Data that shows when two threads were inside together.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "harness/team.hpp"

namespace conformance {

/// Ordinary memory, which ThreadSanitizer watches; each get and set is an access of its own.
class plain_field {
 public:
  long get() const { return value_; }
  void set(long value) { value_ = value; }

 private:
  volatile long value_ = 0;
};

/// For locks that are broken on purpose, so that it is the suite that finds out.
class relaxed_field {
 public:
  // relaxed: orders nothing, as an ordinary variable would
  long get() const { return value_.load(std::memory_order_relaxed); }
  void set(long value) { value_.store(value, std::memory_order_relaxed); }

 private:
  std::atomic<long> value_{0};
};

/// What a thread does inside a section, between the two halves of an update.
enum class inside { nothing, work, yield, sleep };

/// Between two sections. Without it a lock's favourites come one after the other and the rest at the end, and who
/// should meet never meets.
inline void think(const seat& me, inside what, unsigned round) {
  const unsigned length = (round * 5 + me.index() * 3) % 4;
  if (what == inside::sleep && length != 0) std::this_thread::sleep_for(std::chrono::microseconds(100 * length));
  if (what == inside::yield && length == 0) std::this_thread::yield();
}

template <class Field>
class guarded {
 public:
  /// A section of a writer. Requires: the same `what` in all sections of one object.
  void update(seat& me, inside what, unsigned round) {
    const long before = left_.get();
    if (right_.get() != before) me.fail("a torn state: inside came a thread while another was inside");
    left_.set(before + 1);
    linger(what, round, before + 1, me);
    if (left_.get() != before + 1) me.fail("another thread wrote while this one was inside");
    right_.set(before + 1);
  }

  /// A section of a reader.
  void look(seat& me, inside what, unsigned round) const {
    const long before = left_.get();
    if (right_.get() != before) me.fail("a reader saw a torn state");
    if (what == inside::yield && round % 8 == 0) std::this_thread::yield();
    if (what == inside::sleep) std::this_thread::sleep_for(std::chrono::microseconds(100));
    for (const Field& one : many_) {
      if (what == inside::work && one.get() != many_[0].get()) me.fail("a reader saw half of a writer's work");
    }
    if (left_.get() != before || right_.get() != before) me.fail("a writer wrote while a reader was inside");
  }

  /// After the end of all threads.
  violation count_is(long expected) const {
    if (left_.get() == expected && right_.get() == expected) return {};
    return "updates were lost: " + std::to_string(left_.get()) + " and " + std::to_string(right_.get()) +
           " counted of " + std::to_string(expected);
  }

 private:
  void linger(inside what, unsigned round, long value, seat& me) {
    switch (what) {
      case inside::nothing:
        break;
      case inside::work:
        for (Field& one : many_) {
          if (one.get() != value - 1) me.fail("half of another writer's work is there");
          one.set(value);
        }
        break;
      case inside::yield:
        if (round % 8 == 0) std::this_thread::yield();
        break;
      case inside::sleep:
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        break;
    }
  }

  Field left_;
  std::array<Field, 64> many_;
  Field right_;
};

}  // namespace conformance
