// SPDX-License-Identifier: Apache-2.0
// unlock() lets a waiter in: each of these stops for ever when one wake-up is lost.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "harness/guarded.hpp"
#include "harness/promises.hpp"
#include "scenarios/exclusion.hpp"

namespace conformance {

/// Threads in a ring pass the lock on. The holder unlocks only when its successor is about to lock, and returns only
/// after the successor had it. There is never a second waiter that could help.
template <class Lock>
violation relay(unsigned threads, unsigned hand_overs, waits how, std::chrono::milliseconds patience = usual_patience) {
  struct state {
    guarded_by<Lock> own;
    std::atomic<unsigned> announced{0}, acquired{0};  // rounds, in order
  };
  const auto shared = std::make_shared<state>();
  violation found = run_team(
      threads,
      [=](seat& me) {
        holder<Lock> hold(shared->own.lock);
        for (unsigned round = me.index(); round < hand_overs; round += threads) {
          if (!me.await("the round before", [&] { return shared->acquired >= round; })) return;
          shared->announced = round + 1;
          me.at("lock() that the last holder makes way for");
          hold.lock();
          shared->acquired = round + 1;
          const bool last = round + 1 == hand_overs;
          const auto someone_comes = [&] { return last || threads == 1 || shared->announced >= round + 2; };
          if (!me.await("the successor", someone_comes)) return;
          if (how == waits::long_ones) let_others_park();
          shared->own.data.update(me, inside::nothing, round);
          hold.unlock();
          me.tick();
        }
      },
      patience);
  return found.empty() ? shared->own.data.count_is(hand_overs) : found;
}

/// All others wait while one holds; it unlocks once, and each that gets in must let the next one in.
template <class Lock>
violation chain(unsigned threads, unsigned times, waits how, std::chrono::milliseconds patience = usual_patience) {
  struct state {
    guarded_by<Lock> own;
    std::atomic<unsigned> opened{0}, announced{0}, served{0};
  };
  const auto shared = std::make_shared<state>();
  violation found = run_team(
      threads,
      [=](seat& me) {
        holder<Lock> hold(shared->own.lock);
        for (unsigned round = 0; round < times; ++round) {
          const bool first = round % threads == me.index();
          if (first) {
            if (!me.await("the round before", [&] { return shared->served == round * threads; })) return;
            me.at("lock() of a free lock");
            hold.lock();
            shared->opened = round + 1;
            const unsigned all = (round + 1) * (threads - 1);
            if (!me.await("the waiters", [&] { return shared->announced == all; })) return;
            if (how == waits::long_ones) let_others_park();
          } else {
            if (!me.await("the first of the round", [&] { return shared->opened > round; })) return;
            ++shared->announced;
            me.at("lock() in a chain");
            hold.lock();
          }
          shared->own.data.update(me, inside::nothing, round);
          hold.unlock();
          ++shared->served;
          me.tick();
        }
      },
      patience);
  return found.empty() ? shared->own.data.count_is(long{threads} * times) : found;
}

/// Threads that end right after unlock(), while others wait: what a thread leaves behind must not be needed.
template <class Lock>
violation threads_come_and_go(unsigned at_once, unsigned generations, unsigned sections) {
  const auto shared = std::make_shared<guarded_by<Lock>>();
  violation found = run_team(at_once, [=](seat& me) {
    for (unsigned generation = 0; generation < generations && !me.given_up(); ++generation) {
      me.at("the life of a short thread");
      std::thread([&] {
        holder<Lock> hold(shared->lock);
        for (unsigned round = 0; round < sections; ++round) {
          hold.lock();
          shared->data.update(me, inside::yield, round);
          hold.unlock();
        }
      }).join();
      me.tick();
    }
  });
  return found.empty() ? shared->data.count_is(long{at_once} * generations * sections) : found;
}

}  // namespace conformance
