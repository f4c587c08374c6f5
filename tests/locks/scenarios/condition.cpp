// SPDX-License-Identifier: Apache-2.0
#include "scenarios/condition.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "harness/guarded.hpp"

namespace conformance {

violation turns(unsigned threads, unsigned rounds_, notifies where, std::chrono::milliseconds patience) {
  struct state {
    explicit state(unsigned count) : conditions(count) {}
    any_mutex mutex;
    std::vector<any_condition> conditions;
    unsigned turn = 0;
    guarded<plain_field> data;
  };
  const auto shared = std::make_shared<state>(threads);
  violation found = run_team(
      threads,
      [=](seat& me) {
        for (unsigned round = 0; round < rounds_; ++round) {
          const unsigned mine = round * threads + me.index();
          std::unique_lock lock(shared->mutex);
          me.at("wait() for its turn");
          while (shared->turn != mine) shared->conditions[me.index()].wait(lock);
          if (!lock.owns_lock()) me.fail("wait() returned without the lock");
          shared->data.update(me, inside::nothing, round);
          shared->turn = mine + 1;
          auto& next = shared->conditions[(me.index() + 1) % threads];
          if (where == notifies::outside) lock.unlock();
          next.notify_one();
          me.tick();
        }
      },
      patience);
  return found.empty() ? shared->data.count_is(long{threads} * rounds_) : found;
}

violation bounded_buffer(unsigned producers, unsigned consumers, unsigned items, notifies where,
                         std::chrono::milliseconds patience) {
  struct state {
    any_mutex mutex;
    any_condition not_full, not_empty;
    std::deque<unsigned> buffer;
    unsigned produced = 0, consumed = 0;
    unsigned long sum = 0;
  };
  const auto shared = std::make_shared<state>();
  const auto produce = [=](seat& me) {
    for (;;) {
      std::unique_lock lock(shared->mutex);
      me.at("wait() for a free place");
      while (shared->buffer.size() == 2 && shared->produced < items) shared->not_full.wait(lock);
      if (shared->produced == items) return shared->not_full.notify_one();  // the next producer may leave, too
      shared->buffer.push_back(++shared->produced);
      if (where == notifies::outside) lock.unlock();
      shared->not_empty.notify_one();
      me.tick();
    }
  };
  const auto consume = [=](seat& me) {
    for (;;) {
      std::unique_lock lock(shared->mutex);
      me.at("wait() for an item");
      while (shared->buffer.empty() && shared->consumed < items) shared->not_empty.wait(lock);
      if (shared->consumed == items) return shared->not_empty.notify_one();
      shared->sum += shared->buffer.front();
      shared->buffer.pop_front();
      const bool last = ++shared->consumed == items;
      if (where == notifies::outside) lock.unlock();
      shared->not_full.notify_one();
      me.tick();
      if (last) shared->not_empty.notify_one();
    }
  };
  violation found =
      run_team(producers + consumers, [=](seat& me) { me.index() < producers ? produce(me) : consume(me); }, patience);
  if (!found.empty()) return found;
  const unsigned long expected = static_cast<unsigned long>(items) * (items + 1) / 2;
  return shared->sum == expected && shared->buffer.empty() ? "" : "items were lost or came out twice";
}

violation one_feeds_one(unsigned waiters, unsigned tokens, notifies where, std::chrono::milliseconds patience) {
  struct state {
    any_mutex mutex;
    any_condition token_there;
    unsigned waiting = 0, tokens = 0, taken = 0;
    bool over = false;
  };
  const auto shared = std::make_shared<state>();
  const auto feed = [=](seat& me) {
    const auto settled = [&](unsigned taken) {
      const std::lock_guard lock(shared->mutex);
      return shared->taken == taken && shared->waiting == waiters;
    };
    for (unsigned round = 0; round < tokens; ++round) {
      if (!me.await("all to wait, and the last token to be taken", [&] { return settled(round); })) return;
      {
        const std::lock_guard lock(shared->mutex);
        if (shared->tokens != 0) return me.fail("a token was taken and is still there");
        shared->tokens = 1;
        if (where == notifies::inside) shared->token_there.notify_one();
      }
      if (where == notifies::outside) shared->token_there.notify_one();
      me.tick();
    }
    if (!me.await("the last token to be taken", [&] { return settled(tokens); })) return;
    const std::lock_guard lock(shared->mutex);
    shared->over = true;
    shared->token_there.notify_all();
  };
  const auto eat = [=](seat& me) {
    std::unique_lock lock(shared->mutex);
    while (!shared->over) {
      ++shared->waiting;
      me.at("wait() for a token");
      while (shared->tokens == 0 && !shared->over) shared->token_there.wait(lock);
      --shared->waiting;
      if (shared->over) break;
      --shared->tokens;
      ++shared->taken;
      me.tick();
    }
  };
  return run_team(1 + waiters, [=](seat& me) { me.index() == 0 ? feed(me) : eat(me); }, patience);
}

violation all_are_told(unsigned threads, unsigned rounds_, notifies where, std::chrono::milliseconds patience) {
  struct state {
    any_mutex mutex;
    any_condition generation_changed;
    unsigned arrived = 0, generation = 0;
  };
  const auto shared = std::make_shared<state>();
  return run_team(
      threads,
      [=](seat& me) {
        for (unsigned round = 0; round < rounds_; ++round) {
          std::unique_lock lock(shared->mutex);
          if (++shared->arrived == threads) {
            shared->arrived = 0;
            ++shared->generation;
            if (where == notifies::outside) lock.unlock();
            shared->generation_changed.notify_all();
          } else {
            me.at("wait() for the last of many");
            shared->generation_changed.wait(lock, [&] { return shared->generation != round; });
            if (shared->generation != round + 1) me.fail("a waiter was left behind in an old generation");
          }
          me.tick();
        }
      },
      patience);
}

violation timed_storm(unsigned threads, unsigned tokens, std::chrono::milliseconds patience) {
  struct state {
    any_mutex mutex;
    any_condition token_there;
    unsigned tokens = 0, given = 0, taken = 0;
  };
  const auto shared = std::make_shared<state>();
  const auto give = [=](seat& me) {
    for (unsigned round = 0; round < tokens; ++round) {
      {
        const std::lock_guard lock(shared->mutex);
        ++shared->tokens;
        ++shared->given;
      }
      shared->token_there.notify_one();
      if (round % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      me.tick();
    }
    const auto all_taken = [&] {
      const std::lock_guard lock(shared->mutex);
      return shared->taken == tokens;
    };
    if (!me.await("the tokens to be taken", all_taken)) return;
    shared->token_there.notify_all();
  };
  const auto take = [=](seat& me) {
    std::unique_lock lock(shared->mutex);
    for (unsigned round = 0; shared->taken < tokens && !me.given_up(); ++round) {
      const auto due = [&] { return shared->tokens != 0 || shared->taken == tokens; };
      if (me.index() % 2 == 0) {
        me.at("wait() for a token");
        shared->token_there.wait(lock, due);
      } else {
        me.at("wait_for() a token");
        const bool came = shared->token_there.wait_for(lock, std::chrono::microseconds(round % 7 * 30), due);
        if (came != due()) me.fail("wait_for() does not answer its predicate");
      }
      if (shared->tokens == 0) continue;
      --shared->tokens;
      ++shared->taken;
      me.tick();
    }
  };
  return run_team(1 + threads, [=](seat& me) { me.index() == 0 ? give(me) : take(me); }, patience);
}

violation conditions_on_stacks(unsigned threads, unsigned writes, std::chrono::milliseconds patience) {
  struct writer {
    any_condition condition;
    bool done = false;
  };
  struct state {
    any_mutex mutex;
    std::deque<writer*> queue;
    long done = 0;
  };
  const auto shared = std::make_shared<state>();
  violation found = run_team(
      threads,
      [=](seat& me) {
        for (unsigned round = 0; round < writes; ++round) {
          writer mine;
          std::unique_lock lock(shared->mutex);
          shared->queue.push_back(&mine);
          me.at("wait() on a condition on the stack");
          while (!mine.done && shared->queue.front() != &mine) mine.condition.wait(lock);
          me.tick();
          if (mine.done) continue;
          const std::vector<writer*> batch(shared->queue.begin(), shared->queue.end());
          lock.unlock();
          std::this_thread::yield();  // the write
          lock.lock();
          for (writer* const one : batch) {
            shared->queue.pop_front();
            ++shared->done;
            if (one == &mine) continue;
            one->done = true;
            one->condition.notify_one();
          }
          if (!shared->queue.empty()) shared->queue.front()->condition.notify_one();
        }
      },
      patience);
  if (!found.empty()) return found;
  return shared->done == long{threads} * writes ? "" : "writes were lost";
}

violation notified_then_destroyed(unsigned waiters, unsigned times, std::chrono::milliseconds patience) {
  struct state {
    any_mutex mutex;
    std::unique_ptr<any_condition> condition;
    unsigned generation = 0, waiting = 0, returned = 0;
  };
  const auto shared = std::make_shared<state>();
  const auto notify = [=](seat& me) {
    for (unsigned round = 1; round <= times; ++round) {
      {
        const std::lock_guard lock(shared->mutex);
        shared->condition = std::make_unique<any_condition>();
        shared->generation = round;
      }
      const auto all_wait = [&] {
        const std::lock_guard lock(shared->mutex);
        return shared->waiting == round * waiters;
      };
      if (!me.await("all to wait", all_wait)) return;
      {
        const std::lock_guard lock(shared->mutex);
        shared->generation = 0;
        shared->condition->notify_all();
        if (round % 2 == 0) shared->condition.reset();
      }
      shared->condition.reset();
      me.tick();
    }
  };
  const auto wait = [=](seat& me) {
    for (unsigned round = 1; round <= times; ++round) {
      const auto open = [&] {
        const std::lock_guard lock(shared->mutex);
        return shared->generation == round;
      };
      if (!me.await("a new condition", open)) return;
      std::unique_lock lock(shared->mutex);
      ++shared->waiting;
      me.at("wait() on a condition that is destroyed after its notification");
      while (shared->generation == round) shared->condition->wait(lock);
      me.tick();
    }
  };
  return run_team(1 + waiters, [=](seat& me) { me.index() == 0 ? notify(me) : wait(me); }, patience);
}

violation destroyed_after_a_past(unsigned times, std::chrono::milliseconds patience) {
  struct state {
    any_mutex mutex;
    std::unique_ptr<any_condition> condition;
    unsigned stage = 0, waiting = 0, left = 0;  // two stages a round: two waiters, then one
  };
  const auto shared = std::make_shared<state>();
  const auto locked = [=](auto what) {
    const std::lock_guard lock(shared->mutex);
    return what();
  };
  const auto wait_past = [=](seat& me, unsigned stage) {
    if (!me.await("its stage", [&] { return locked([&] { return shared->stage == stage; }); })) return false;
    std::unique_lock lock(shared->mutex);
    ++shared->waiting;
    me.at("wait() for the end of a stage");
    while (shared->stage == stage) shared->condition->wait(lock);
    ++shared->left;
    me.tick();
    return true;
  };
  const auto direct = [=](seat& me) {
    for (unsigned round = 0; round < times; ++round) {
      locked([&] {
        shared->condition = std::make_unique<any_condition>();
        shared->waiting = shared->left = 0;
        shared->stage = 4 * round + 1;
      });
      // Without a pause: the second one shall be notified on its way to sleep.
      me.at("two waiters");
      while (!locked([&] { return shared->waiting == 2; })) {
        if (me.given_up()) return;
        std::this_thread::yield();
      }
      locked([&] { ++shared->stage; });
      const auto both_left = [&] {
        shared->condition->notify_one();
        return locked([&] { return shared->left == 2; });
      };
      if (!me.await("two waiters to leave", both_left)) return;
      locked([&] { ++shared->stage; });
      me.at("one waiter");
      while (!locked([&] { return shared->waiting == 3; })) {
        if (me.given_up()) return;
        std::this_thread::yield();
      }
      locked([&] {
        ++shared->stage;
        shared->condition->notify_one();
      });
      shared->condition.reset();
      me.tick();
      if (!me.await("the last waiter", [&] { return locked([&] { return shared->left == 3; }); })) return;
    }
  };
  return run_team(
      3,
      [=](seat& me) {
        if (me.index() == 0) return direct(me);
        for (unsigned round = 0; round < times; ++round) {
          if (!wait_past(me, 4 * round + 1)) return;
          if (me.index() == 1 && !wait_past(me, 4 * round + 3)) return;
        }
      },
      patience);
}

}  // namespace conformance
