// SPDX-License-Identifier: Apache-2.0
// The conformance suite: condition variables, with the standard's as control.
#include <gtest/gtest.h>

#include <condition_variable>
#include <new>
#include <stdexcept>
#include <type_traits>

#include <txsync/condition_variable.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/memory.hpp>

#include "scenarios/condition.hpp"

namespace {

using namespace conformance;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

struct of_the_standard {
  using mutex = std::mutex;
  using condition = std::condition_variable;
  static constexpr const char* name = "std_condition_variable";
};

struct ours {
  using mutex = txsync::mutex;
  using condition = txsync::condition_variable;
  static constexpr const char* name = "condition_variable";
};

/// wait_with() in the shape of the others.
template <class Lock>
class with_any_lock {
 public:
  void notify_one() { core_.notify_one(); }
  void notify_all() { core_.notify_all(); }
  void wait(std::unique_lock<Lock>& lock) { core_.wait_with(lock); }
  template <class Predicate>
  void wait(std::unique_lock<Lock>& lock, Predicate predicate) {
    while (!predicate()) wait(lock);
  }
  template <class Duration>
  std::cv_status wait_for(std::unique_lock<Lock>& lock, Duration time) {
    const auto ns = std::max<std::int64_t>(0, std::chrono::nanoseconds(time).count());
    const std::uint64_t deadline = txsync::machine::clock_ns() + static_cast<std::uint64_t>(ns);
    return core_.wait_with(lock, deadline) ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  template <class Duration, class Predicate>
  bool wait_for(std::unique_lock<Lock>& lock, Duration time, Predicate predicate) {
    const auto end = steady_clock::now() + time;
    while (!predicate()) {
      if (wait_for(lock, end - steady_clock::now()) == std::cv_status::timeout) return predicate();
    }
    return true;
  }

 private:
  txsync::condition_variable core_;
};

struct with_tatas {
  using mutex = txsync::tatas_lock;
  using condition = with_any_lock<mutex>;
  static constexpr const char* name = "with_tatas_lock";
};
struct with_ticket {
  using mutex = txsync::ticket_lock;
  using condition = with_any_lock<mutex>;
  static constexpr const char* name = "with_ticket_lock";
};

class Conditions : public testing::TestWithParam<const pair_kind*> {
 protected:
  Conditions() { any_mutex::next_kind = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(EveryPair, Conditions,
                         testing::Values(&pair_kind_of<of_the_standard>, &pair_kind_of<ours>, &pair_kind_of<with_tatas>,
                                         &pair_kind_of<with_ticket>),
                         [](const auto& test) { return std::string(test.param->name); });

TEST_P(Conditions, NoNotificationIsLostInARing) {
  for (const notifies where : {notifies::inside, notifies::outside}) {
    for (const unsigned threads : team_sizes) {
      SCOPED_TRACE(threads);
      EXPECT_EQ(turns(threads, rounds(3'000 / threads), where), "");
    }
  }
}

TEST_P(Conditions, NoNotificationIsLostAtABuffer) {
  for (const notifies where : {notifies::inside, notifies::outside}) {
    for (const unsigned threads : {1u, 2u, 8u}) {
      SCOPED_TRACE(threads);
      EXPECT_EQ(bounded_buffer(threads, threads, rounds(3'000), where), "");
    }
    EXPECT_EQ(bounded_buffer(1, 8, rounds(1'000), where), "");
    EXPECT_EQ(bounded_buffer(8, 1, rounds(1'000), where), "");
  }
}

TEST_P(Conditions, OneNotificationFeedsOne) {
  for (const notifies where : {notifies::inside, notifies::outside}) {
    for (const unsigned waiters : {1u, 2u, 4u, 16u, 64u}) {
      SCOPED_TRACE(waiters);
      EXPECT_EQ(one_feeds_one(waiters, rounds(200), where), "");
    }
  }
}

TEST_P(Conditions, AllAreTold) {
  for (const notifies where : {notifies::inside, notifies::outside}) {
    for (const unsigned threads : {1u, 2u, 4u, 16u, 64u}) {
      SCOPED_TRACE(threads);
      EXPECT_EQ(all_are_told(threads, rounds(800 / threads), where), "");
    }
  }
}

TEST_P(Conditions, TimedWaitsLoseNothing) {
  for (const unsigned threads : {2u, 4u, 16u}) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(timed_storm(threads, rounds(1'000)), "");
  }
}

TEST_P(Conditions, MayLieOnTheWaitersStack) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(conditions_on_stacks(threads, rounds(2'000 / threads)), "");
  }
}

TEST_P(Conditions, MayBeDestroyedOnceAllAreNotified) {
  for (const unsigned waiters : {1u, 2u, 4u, 16u}) {
    SCOPED_TRACE(waiters);
    EXPECT_EQ(notified_then_destroyed(waiters, rounds(1'000 / waiters)), "");
  }
  EXPECT_EQ(destroyed_after_a_past(rounds(400)), "");
}

TEST_P(Conditions, TimesOutAtTheDeadlineNotBeforeAndHoldsTheLock) {
  any_mutex mutex;
  any_condition condition;
  std::unique_lock lock(mutex);
  for (const auto time : {-5ms, 0ms, 1ms, 3ms}) {
    const auto end = steady_clock::now() + time;
    while (condition.wait_for(lock, end - steady_clock::now()) == std::cv_status::no_timeout) {
    }
    EXPECT_GE(steady_clock::now(), end);
    EXPECT_TRUE(lock.owns_lock());
    bool got = true;
    std::thread([&] { got = mutex.try_lock(); }).join();
    EXPECT_FALSE(got) << "the lock is held again after a wait that timed out";
  }
  EXPECT_FALSE(condition.wait_for(lock, 1ms, [] { return false; }));
  EXPECT_TRUE(condition.wait_for(lock, 0ms, [] { return true; }));
  EXPECT_TRUE(condition.wait_for(lock, -1ms, [] { return true; }));
}

TEST_P(Conditions, AThrowingPredicateLeavesTheLockHeld) {
  any_mutex mutex;
  any_condition condition;
  std::unique_lock lock(mutex);
  EXPECT_THROW(condition.wait(lock, []() -> bool { throw std::runtime_error("thrown by the test"); }),
               std::runtime_error);
  EXPECT_TRUE(lock.owns_lock());
  bool got = true;
  std::thread([&] { got = mutex.try_lock(); }).join();
  EXPECT_FALSE(got);
}

TEST_P(Conditions, NotifyingNobodyIsHarmless) {
  any_mutex mutex;
  any_condition condition;
  for (int i = 0; i < 1000; ++i) {
    condition.notify_one();
    condition.notify_all();
  }
  // Such notifications are not kept for later.
  std::unique_lock lock(mutex);
  const auto end = steady_clock::now() + 1ms;
  EXPECT_FALSE(condition.wait_for(lock, end - steady_clock::now(), [] { return false; }));
  EXPECT_GE(steady_clock::now(), end);
}

struct pair_names {
  template <class Pair>
  static std::string GetName(int) {
    return Pair::name;
  }
};

template <class Pair>
class ConditionsOfClocks : public testing::Test {};
using pairs_with_clocks = testing::Types<of_the_standard, ours>;
TYPED_TEST_SUITE(ConditionsOfClocks, pairs_with_clocks, pair_names);

TYPED_TEST(ConditionsOfClocks, TakesAnyClock) {
  typename TypeParam::mutex mutex;
  typename TypeParam::condition condition;
  std::unique_lock lock(mutex);
  const auto try_clock = [&]<class Clock>(Clock) {
    const auto end = Clock::now() + 2ms;
    while (condition.wait_until(lock, end) == std::cv_status::no_timeout) {
    }
    EXPECT_GE(Clock::now(), end);
    EXPECT_FALSE(condition.wait_until(lock, Clock::now() + 1ms, [] { return false; }));
    EXPECT_TRUE(condition.wait_until(lock, Clock::now() - 1h, [] { return true; }));
    EXPECT_FALSE(condition.wait_until(lock, Clock::now() - 1h, [] { return false; }));
  };
  try_clock(steady_clock());
  try_clock(std::chrono::system_clock());
}

TYPED_TEST(ConditionsOfClocks, FarDeadlinesAreNoDeadlinesOfThePast) {
  struct state {
    typename TypeParam::mutex mutex;
    typename TypeParam::condition condition;
    bool waiting = false, told = false;
  };
  for (const int how : {0, 1, 2}) {
    SCOPED_TRACE(how);
    const auto shared = std::make_shared<state>();
    const auto found = run_team(2, [=](seat& me) {
      const auto waits = [&] {
        const std::lock_guard look(shared->mutex);
        return shared->waiting;
      };
      if (me.index() == 0) {
        if (!me.await("the wait", waits)) return;
        let_others_park();
        const std::lock_guard tell(shared->mutex);
        shared->told = true;
        return shared->condition.notify_one();
      }
      std::unique_lock lock(shared->mutex);
      shared->waiting = true;
      me.at("a wait with a far deadline");
      const auto told = [&] { return shared->told; };
      const bool answer = how == 0   ? shared->condition.wait_for(lock, 24h * 365 * 100, told)
                          : how == 1 ? shared->condition.wait_until(lock, steady_clock::time_point::max(), told)
                                     : shared->condition.wait_until(lock, steady_clock::now() + 24h * 365, told);
      if (!answer) me.fail("a wait of at least a year has timed out");
    });
    EXPECT_EQ(found, "");
  }
}

TEST(ConditionVariable, AnyDurationIsFine) {
  txsync::mutex mutex;
  txsync::condition_variable condition;
  std::unique_lock lock(mutex);
  const auto yes = [] { return true; };
  EXPECT_TRUE(condition.wait_for(lock, std::chrono::hours::max(), yes));
  EXPECT_TRUE(condition.wait_for(lock, std::chrono::nanoseconds::max(), yes));
  EXPECT_TRUE(condition.wait_for(lock, std::chrono::nanoseconds::min(), yes));
  EXPECT_TRUE(condition.wait_for(lock, std::chrono::duration<double>(1e300), yes));
  EXPECT_EQ(condition.wait_for(lock, std::chrono::hours::min()), std::cv_status::timeout);
  EXPECT_EQ(condition.wait_until(lock, steady_clock::time_point::min()), std::cv_status::timeout);
}

TEST(ConditionVariable, NeedsNoConstructorAndIsOfTheStatedSize) {
  EXPECT_EQ(sizeof(txsync::condition_variable), 16u);
  static constinit txsync::condition_variable in_static_memory;
  in_static_memory.notify_all();
  void* const pages = txsync::machine::map_pages(sizeof(txsync::condition_variable));
  auto& zeroed = *static_cast<txsync::condition_variable*>(pages);
  txsync::mutex mutex;
  std::unique_lock lock(mutex);
  EXPECT_FALSE(zeroed.wait_for(lock, 1ms, [] { return false; }));
  bool told = false;
  std::thread teller([&] {
    const std::lock_guard guard(mutex);
    told = true;
    zeroed.notify_one();
  });
  zeroed.wait(lock, [&] { return told; });
  lock.unlock();
  teller.join();
  txsync::machine::unmap_pages(pages, sizeof(txsync::condition_variable));
}

}  // namespace
