// SPDX-License-Identifier: Apache-2.0
#include "scenarios/reader_writer.hpp"

namespace conformance {

violation readers_meet_inside(unsigned threads, unsigned times, std::chrono::milliseconds patience) {
  struct state {
    any_shared_lock lock;
    std::atomic<unsigned> inside{0};
  };
  const auto shared = std::make_shared<state>();
  return run_team(
      threads,
      [=](seat& me) {
        for (unsigned round = 1; round <= times; ++round) {
          me.at("lock_shared()");
          shared->lock.lock_shared();
          ++shared->inside;
          if (!me.await("the other readers, inside", [&] { return shared->inside >= round * threads; })) return;
          shared->lock.unlock_shared();
          me.tick();
        }
      },
      patience);
}

violation tries_tell_the_truth(unsigned times, std::chrono::milliseconds patience) {
  struct state {
    any_shared_lock lock;
    std::atomic<unsigned> entered{0}, tried{0};
  };
  const auto shared = std::make_shared<state>();
  const auto other = [=](seat& me) {
    for (unsigned step = 1; step <= 3 * times; ++step) {
      me.at("lock() or lock_shared() of a free lock");
      const unsigned how = step % 3;
      if (how == 1) shared->lock.lock();
      if (how == 2) shared->lock.lock_shared();
      shared->entered = step;
      if (!me.await("the tries of the other thread", [&] { return shared->tried == step; })) return;
      if (how == 1) shared->lock.unlock();
      if (how == 2) shared->lock.unlock_shared();
      me.tick();
    }
  };
  const auto tries = [=](seat& me) {
    for (unsigned step = 1; step <= 3 * times; ++step) {
      if (!me.await("the other thread", [&] { return shared->entered == step; })) return;
      const unsigned how = step % 3;
      me.at("try_lock()");
      const bool alone = shared->lock.try_lock();
      if (alone) shared->lock.unlock();
      me.at("try_lock_shared()");
      const bool beside = shared->lock.try_lock_shared();
      if (beside) shared->lock.unlock_shared();
      if (alone && how == 1) return me.fail("try_lock() succeeded beside a writer");
      if (alone && how == 2) return me.fail("try_lock() succeeded beside a reader");
      if (!alone && how == 0) return me.fail("try_lock() failed on a free lock");
      if (beside && how == 1) return me.fail("try_lock_shared() succeeded beside a writer");
      if (!beside && how == 2) return me.fail("try_lock_shared() failed beside a reader");
      if (!beside && how == 0) return me.fail("try_lock_shared() failed on a free lock");
      shared->tried = step;
      me.tick();
    }
  };
  return run_team(2, [=](seat& me) { me.index() == 0 ? other(me) : tries(me); }, patience);
}

violation modes_hand_over(unsigned readers, unsigned times, waits how, std::chrono::milliseconds patience) {
  struct state {
    guarded_by<any_shared_lock> own;
    std::atomic<unsigned> reading{0}, writer_comes{0}, writing{0}, readers_come{0}, done{0};
  };
  const auto shared = std::make_shared<state>();
  const auto write = [=](seat& me) {
    for (unsigned round = 1; round <= times; ++round) {
      if (!me.await("the readers", [&] { return shared->reading == round * readers; })) return;
      shared->writer_comes = round;
      me.at("lock() behind readers");
      shared->own.lock.lock();
      shared->writing = round;
      if (!me.await("the readers that come again", [&] { return shared->readers_come == round * readers; })) return;
      if (how == waits::long_ones) let_others_park();
      shared->own.data.update(me, inside::nothing, round);
      shared->own.lock.unlock();
      if (!me.await("the readers' second look", [&] { return shared->done == round * readers; })) return;
      me.tick();
    }
  };
  const auto read = [=](seat& me) {
    for (unsigned round = 1; round <= times; ++round) {
      me.at("lock_shared() among readers");
      shared->own.lock.lock_shared();
      ++shared->reading;
      if (!me.await("the writer that comes", [&] { return shared->writer_comes == round; })) return;
      if (how == waits::long_ones) let_others_park();
      shared->own.data.look(me, inside::nothing, round);
      shared->own.lock.unlock_shared();
      if (!me.await("the writer that is inside", [&] { return shared->writing == round; })) return;
      ++shared->readers_come;
      me.at("lock_shared() behind a writer");
      shared->own.lock.lock_shared();
      shared->own.data.look(me, inside::nothing, round);
      shared->own.lock.unlock_shared();
      ++shared->done;
      me.tick();
      if (!me.await("the other readers", [&] { return shared->done >= round * readers; })) return;
    }
  };
  violation found = run_team(1 + readers, [=](seat& me) { me.index() == 0 ? write(me) : read(me); }, patience);
  return found.empty() ? shared->own.data.count_is(times) : found;
}

violation writer_gets_in(unsigned readers, unsigned times, std::chrono::milliseconds patience) {
  struct state {
    any_shared_lock lock;
    std::atomic<unsigned> entries{0};
    std::atomic<bool> written{false};
  };
  const auto shared = std::make_shared<state>();
  const auto write = [=](seat& me) {
    for (unsigned round = 0; round < times; ++round) {
      if (!me.await("readers", [&] { return shared->entries > round; })) break;
      me.at("lock() against readers without end");
      const std::lock_guard writing(shared->lock);
      me.tick();
    }
    shared->written = true;
  };
  const auto read = [=](seat& me) {
    while (!shared->written && !me.given_up()) {
      me.at("lock_shared()");
      const std::shared_lock reading(shared->lock);
      const unsigned mine = ++shared->entries;
      me.at("the next reader");
      // The wait is bounded because a lock that serves writers keeps the next reader out.
      for (unsigned looks = 0; looks < 20 && shared->entries == mine; ++looks) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
  };
  return run_team(1 + readers, [=](seat& me) { me.index() == 0 ? write(me) : read(me); }, patience);
}

violation reader_gets_in(unsigned writers, unsigned times, std::chrono::milliseconds patience) {
  struct state {
    any_shared_lock lock;
    std::atomic<unsigned> announced{0}, entries{0};
    std::atomic<bool> read{false};
  };
  const auto shared = std::make_shared<state>();
  const auto read = [=](seat& me) {
    for (unsigned round = 0; round < times; ++round) {
      if (!me.await("writers", [&] { return shared->entries > round; })) break;
      me.at("lock_shared() against writers without end");
      const std::shared_lock reading(shared->lock);
      me.tick();
    }
    shared->read = true;
  };
  const auto write = [=](seat& me) {
    while (!shared->read && !me.given_up()) {
      const unsigned mine = ++shared->announced;
      me.at("lock()");
      const std::lock_guard writing(shared->lock);
      ++shared->entries;
      for (unsigned looks = 0; looks < 20 && shared->announced == mine; ++looks) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
  };
  return run_team(1 + writers, [=](seat& me) { me.index() == 0 ? read(me) : write(me); }, patience);
}

}  // namespace conformance
