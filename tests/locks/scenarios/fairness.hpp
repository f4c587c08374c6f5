// SPDX-License-Identifier: Apache-2.0
// Who is served when. Arrivals are made one after the other, and each is seen in the lock's own memory. So the order of
// arrival is known, and not guessed from clocks.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "harness/budget.hpp"
#include "harness/guarded.hpp"
#include "harness/promises.hpp"

namespace conformance {

/// The first `count` bytes of a lock as they are now. Each byte is read atomically: others are changing them.
inline std::vector<unsigned char> bytes_of(void* lock, std::size_t count) {
  std::vector<unsigned char> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    // relaxed: compared only
    bytes[i] = std::atomic_ref(static_cast<unsigned char*>(lock)[i]).load(std::memory_order_relaxed);
  }
  return bytes;
}

/// Threads that arrive in a known order behind a holder are served in that order. Requires: an arrival changes the
/// first eight bytes of the lock, once (a ticket drawn, the tail of a queue).
template <class Lock>
violation served_as_arrived(unsigned waiters, unsigned times, std::chrono::milliseconds patience = usual_patience) {
  struct state {
    Lock lock;
    std::atomic<unsigned> called{0}, served{0};
    std::vector<unsigned> order;
  };
  const auto shared = std::make_shared<state>();
  const auto let_them_arrive = [=](seat& me) {
    holder<Lock> hold(shared->lock);
    for (unsigned round = 0; round < times; ++round) {
      hold.lock();
      shared->order.clear();
      for (unsigned i = 0; i < waiters; ++i) {
        const auto before = bytes_of(&shared->lock, 8);
        ++shared->called;
        if (!me.await("an arrival", [&] { return bytes_of(&shared->lock, 8) != before; })) return;
      }
      hold.unlock();
      if (!me.await("all to be served", [&] { return shared->served == (round + 1) * waiters; })) return;
      hold.lock();
      for (unsigned i = 0; i < waiters; ++i) {
        if (shared->order[i] == i) continue;
        me.fail("arrival " + std::to_string(shared->order[i]) + " was served as number " + std::to_string(i));
      }
      hold.unlock();
      me.tick();
    }
  };
  const auto arrive = [=](seat& me) {
    const unsigned mine = me.index() - 1;
    holder<Lock> hold(shared->lock);
    for (unsigned round = 0; round < times; ++round) {
      if (!me.await("its turn to arrive", [&] { return shared->called > round * waiters + mine; })) return;
      me.at("lock() in line");
      hold.lock();
      shared->order.push_back(mine);
      hold.unlock();
      ++shared->served;
      me.tick();
    }
  };
  return run_team(1 + waiters, [=](seat& me) { me.index() == 0 ? let_them_arrive(me) : arrive(me); }, patience);
}

/// How often others got the lock between a thread's arrival and its own turn, counted under the lock itself. All the
/// others take it again and again. The thread arrives behind all of them, where it is held back first.
template <class Lock>
violation passed_by_at_most(std::uint64_t bound, unsigned threads, unsigned times,
                            std::chrono::milliseconds patience = usual_patience) {
  struct state {
    Lock lock;
    std::atomic<unsigned> round{0}, gathered{0}, victim_called{0}, done{0};
    // Guarded by the lock:
    std::uint64_t acquisitions = 1;
    std::uint64_t at_arrival = 0;  // none at present
    std::uint64_t worst = 0;
  };
  const auto shared = std::make_shared<state>();
  const unsigned others = threads - 1;
  const auto arrangement = [=](seat& me) {
    holder<Lock> hold(shared->lock);
    for (unsigned round = 1; round <= times; ++round) {
      me.at("lock() of the free lock");
      hold.lock();
      shared->round = round;
      if (!me.await("the others", [&] { return shared->gathered == round * others; })) return;
      let_others_park();
      const auto before = bytes_of(&shared->lock, sizeof(Lock));
      shared->victim_called = round;
      if (!me.await("the arrival", [&] { return bytes_of(&shared->lock, sizeof(Lock)) != before; })) return;
      shared->at_arrival = shared->acquisitions;
      hold.unlock();
      if (!me.await("the end of the round", [&] { return shared->done == round * threads; })) return;
    }
  };
  const auto pass_by = [=](seat& me) {
    holder<Lock> hold(shared->lock);
    for (unsigned round = 1; round <= times; ++round) {
      if (!me.await("the round", [&] { return shared->round == round; })) return;
      ++shared->gathered;
      for (bool over = false; !over && !me.given_up();) {
        me.at("lock() again and again");
        hold.lock();
        ++shared->acquisitions;
        over = shared->at_arrival == 0;
        hold.unlock();
      }
      ++shared->done;
    }
  };
  const auto victim = [=](seat& me) {
    holder<Lock> hold(shared->lock);
    for (unsigned round = 1; round <= times; ++round) {
      if (!me.await("its call", [&] { return shared->victim_called == round; })) return;
      me.at("lock() behind all others");
      hold.lock();
      shared->worst = std::max(shared->worst, shared->acquisitions - shared->at_arrival);
      shared->at_arrival = 0;  // tells the others that the round is over
      ++shared->acquisitions;
      hold.unlock();
      ++shared->done;
      me.tick();
    }
  };
  violation found = run_team(
      1 + threads,
      [=](seat& me) {
        if (me.index() == 0) return arrangement(me);
        if (me.index() == 1) return victim(me);
        pass_by(me);
      },
      patience);
  if (found.empty() && shared->worst > bound) {
    found = "passed by " + std::to_string(shared->worst) + " times; the bound is " + std::to_string(bound);
  }
  return found;
}

}  // namespace conformance
