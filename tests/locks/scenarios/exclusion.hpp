// SPDX-License-Identifier: Apache-2.0
// One thread at a time, by lock() and by try_lock().
#pragma once

#include <memory>
#include <mutex>
#include <stdexcept>

#include "harness/any_lock.hpp"
#include "harness/budget.hpp"
#include "harness/guarded.hpp"
#include "harness/promises.hpp"

namespace conformance {

/// Sections for each of `threads` threads. A queue in strict order costs a turn of the scheduler at each hand-over
/// when there are more threads than cores.
inline unsigned rounds_each(bool strictly_fifo, unsigned threads, unsigned base) {
  const unsigned slow = strictly_fifo && oversubscribed(threads) ? 20 : 1;
  return std::max(2u, rounds(base / threads / slow));
}

template <class Lock, class Field = plain_field>
struct guarded_by {
  Lock lock;
  guarded<Field> data;
};

/// What one thread of a team does with the lock that an any_lock stands for. It is compiled for the lock's own type;
/// the team around it is compiled once.
template <class Field>
using sections_of = void (*)(seat& me, any_lock& lock, guarded<Field>& data, unsigned sections, inside what);

template <class Field>
violation run_sections(const lock_kind& kind, sections_of<Field> sections_of_thread, unsigned threads,
                       unsigned sections, inside what, std::chrono::milliseconds patience) {
  any_lock::next_kind = &kind;
  const auto shared = std::make_shared<guarded_by<any_lock, Field>>();
  violation found = run_team(
      threads, [=](seat& me) { sections_of_thread(me, shared->lock, shared->data, sections, what); }, patience);
  return found.empty() ? shared->data.count_is(long{threads} * sections) : found;
}

template <class Lock, class Field>
void sections_by_lock(seat& me, any_lock& lock, guarded<Field>& data, unsigned sections, inside what) {
  holder<Lock> hold(lock.as<Lock>());
  for (unsigned round = 0; round < sections && !me.given_up(); ++round) {
    me.at("lock()");
    hold.lock();
    data.update(me, what, round);
    me.at("unlock()");
    hold.unlock();
    me.tick();
    think(me, what, round);
  }
}

template <class Lock, class Field = plain_field>
violation exclusion(unsigned threads, unsigned sections, inside what,
                    std::chrono::milliseconds patience = usual_patience) {
  return run_sections<Field>(kind_of<Lock>, sections_by_lock<Lock, Field>, threads, sections, what, patience);
}

/// Two locks, one update guarded by both: std::lock's back-off by try_lock() among blocking lock()s.
template <class Lock, class Field = plain_field>
violation two_locks(unsigned threads, unsigned sections) {
  struct state {
    Lock first;
    Lock second;
    guarded<Field> data;
  };
  const auto shared = std::make_shared<state>();
  violation found = run_team(threads, [=](seat& me) {
    holder<Lock> first(shared->first);
    holder<Lock> second(shared->second);
    for (unsigned round = 0; round < sections && !me.given_up(); ++round) {
      me.at("scoped_lock of two");
      if ((round + me.index()) % 2 == 0) {
        const std::scoped_lock both(first, second);
        shared->data.update(me, inside::nothing, round);
      } else {
        const std::scoped_lock both(second, first);
        shared->data.update(me, inside::nothing, round);
      }
      me.tick();
    }
  });
  return found.empty() ? shared->data.count_is(long{threads} * sections) : found;
}

template <class Lock, class Field>
void sections_by_both(seat& me, any_lock& lock, guarded<Field>& data, unsigned sections, inside what) {
  holder<Lock> hold(lock.as<Lock>());
  for (unsigned round = 0; round < sections && !me.given_up(); ++round) {
    me.at("try_lock()");
    bool mine = false;
    for (unsigned tries = (round + me.index()) % 3; tries > 0 && !mine; --tries) mine = hold.try_lock();
    if (!mine) {
      me.at("lock()");
      hold.lock();
    }
    data.update(me, what, round);
    me.at("unlock()");
    hold.unlock();
    me.tick();
    think(me, what, round);
  }
}

/// lock() and try_lock() side by side. A thread whose tries fail goes on to lock().
template <class Lock, class Field = plain_field>
violation mixed_exclusion(unsigned threads, unsigned sections, inside what,
                          std::chrono::milliseconds patience = usual_patience) {
  return run_sections<Field>(kind_of<Lock>, sections_by_both<Lock, Field>, threads, sections, what, patience);
}

/// try_lock() succeeds on a free lock, fails on one that another thread holds, and returns at once. The holder unlocks
/// only after the tries.
template <class Lock>
violation try_lock_tells_the_truth(unsigned times, std::chrono::milliseconds patience = usual_patience) {
  struct state {
    Lock lock;
    std::atomic<unsigned> held{0}, tried{0}, freed{0}, done{0};
  };
  const auto shared = std::make_shared<state>();
  const auto hold_and_free = [=](seat& me) {
    holder<Lock> hold(shared->lock);
    for (unsigned round = 1; round <= times; ++round) {
      me.at("lock() of a free lock");
      hold.lock();
      shared->held = round;
      if (!me.await("try_lock() of the other thread", [&] { return shared->tried >= round; })) return;
      hold.unlock();
      shared->freed = round;
      if (!me.await("the other thread's section", [&] { return shared->done >= round; })) return;
      me.tick();
    }
  };
  const auto try_both = [=](seat& me) {
    holder<Lock> hold(shared->lock);
    for (unsigned round = 1; round <= times; ++round) {
      if (!me.await("lock() of the other thread", [&] { return shared->held >= round; })) return;
      me.at("try_lock() of a held lock");
      for (unsigned i = 0; i < 4; ++i) {
        if (hold.try_lock()) return me.fail("try_lock() succeeded on a lock that another thread holds");
      }
      shared->tried = round;
      if (!me.await("unlock() of the other thread", [&] { return shared->freed >= round; })) return;
      me.at("try_lock() of a free lock");
      if (!try_free_lock(hold)) return me.fail("try_lock() failed on a free lock");
      hold.unlock();
      shared->done = round;
      me.tick();
    }
  };
  return run_team(2, [=](seat& me) { me.index() == 0 ? hold_and_free(me) : try_both(me); }, patience);
}

/// try_lock() fails, and comes back, while a lock is held and others wait for it; the waiters are none the worse.
template <class Lock>
violation try_lock_among_waiters(unsigned waiters, unsigned times,
                                 std::chrono::milliseconds patience = usual_patience) {
  struct state {
    guarded_by<Lock> own;
    std::atomic<unsigned> opened{0}, announced{0}, served{0}, tried{0};
  };
  const auto shared = std::make_shared<state>();
  const auto hold_long = [=](seat& me) {
    holder<Lock> hold(shared->own.lock);
    for (unsigned round = 1; round <= times; ++round) {
      me.at("lock() of a free lock");
      hold.lock();
      shared->opened = round;
      if (!me.await("waiters that come", [&] { return shared->announced == round * waiters; })) return;
      if (!me.await("try_lock() of the other thread", [&] { return shared->tried == round; })) return;
      shared->own.data.update(me, inside::nothing, round);
      hold.unlock();
      if (!me.await("the waiters' sections", [&] { return shared->served == round * waiters; })) return;
      me.tick();
    }
  };
  const auto keep_trying = [=](seat& me) {
    holder<Lock> hold(shared->own.lock);
    for (unsigned round = 1; round <= times; ++round) {
      if (!me.await("waiters that come", [&] { return shared->announced == round * waiters; })) return;
      let_others_park();
      me.at("try_lock() of a held lock with waiters");
      for (unsigned i = 0; i < 100; ++i) {
        if (hold.try_lock()) return me.fail("try_lock() succeeded on a held lock with waiters");
      }
      shared->tried = round;
      me.tick();
    }
  };
  const auto wait_for_it = [=](seat& me) {
    holder<Lock> hold(shared->own.lock);
    for (unsigned round = 1; round <= times; ++round) {
      if (!me.await("the holder", [&] { return shared->opened >= round; })) return;
      ++shared->announced;
      me.at("lock() of a held lock");
      hold.lock();
      shared->own.data.update(me, inside::nothing, round);
      hold.unlock();
      ++shared->served;
      me.tick();
      if (!me.await("the other waiters", [&] { return shared->served >= round * waiters; })) return;
    }
  };
  violation found = run_team(
      2 + waiters,
      [=](seat& me) {
        if (me.index() == 0) return hold_long(me);
        if (me.index() == 1) return keep_trying(me);
        wait_for_it(me);
      },
      patience);
  return found.empty() ? shared->own.data.count_is(long{times} * (waiters + 1)) : found;
}

/// A section left by an exception leaves the lock free.
template <class Lock>
violation exceptions_unlock(unsigned threads, unsigned sections) {
  const auto shared = std::make_shared<guarded_by<Lock>>();
  violation found = run_team(threads, [=](seat& me) {
    for (unsigned round = 0; round < sections && !me.given_up(); ++round) {
      holder<Lock> hold(shared->lock);
      try {
        me.at("lock_guard");
        const std::lock_guard guard(hold);
        shared->data.update(me, inside::nothing, round);
        if (round % 2 == 0) throw std::runtime_error("thrown by the test");
      } catch (const std::runtime_error&) {
        me.tick();
      }
    }
  });
  return found.empty() ? shared->data.count_is(long{threads} * sections) : found;
}

}  // namespace conformance
