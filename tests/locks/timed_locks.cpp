// SPDX-License-Identifier: Apache-2.0
// Locks with deadlines, as the standard has them: every lock that waits until a time, with the standard's own as
// controls.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include <txsync/condition_variable.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/warming.hpp>

#include "harness/budget.hpp"
#include "harness/threads.hpp"
#include "locks/backoff.hpp"
#include "locks_under_test.hpp"
#include "scenarios/exclusion.hpp"

namespace {

using namespace conformance;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

template <class Lock>
concept timed_lockable = requires(Lock& lock) {
  { lock.try_lock_for(1ms) } -> std::same_as<bool>;
  { lock.try_lock_until(steady_clock::now()) } -> std::same_as<bool>;
};
template <class Lock>
concept shared_timed_lockable = timed_lockable<Lock> && requires(Lock& lock) {
  { lock.try_lock_shared_for(1ms) } -> std::same_as<bool>;
  { lock.try_lock_shared_until(steady_clock::now()) } -> std::same_as<bool>;
};

// A queue that nobody can leave has no deadlines, and says so to who asks.
static_assert(!timed_lockable<txsync::ticket_lock> && !timed_lockable<txsync::elided<txsync::ticket_lock>>);
static_assert(!timed_lockable<txsync::srwlock> && !shared_timed_lockable<txsync::elided_shared<txsync::srwlock>>);

/// With the standard's, but for ThreadSanitizer, which does not see how those wait (pthread_mutex_clocklock()).
template <class Ours, class... Controls>
struct with_controls;
template <class... Ours, class... Controls>
struct with_controls<testing::Types<Ours...>, Controls...> {
  using types = std::conditional_t<under_tsan, testing::Types<Ours...>, testing::Types<Controls..., Ours...>>;
};

template <class Lock>
class TimedLocks : public testing::Test {};
using timed_locks =
    testing::Types<txsync::mutex, txsync::futex_mutex, txsync::spinning_mutex, txsync::tatas_lock, txsync::shared_mutex,
                   txsync::occ_rwlock, txsync::futex_rwlock, txsync::elided<txsync::mutex>,
                   txsync::elided_shared<txsync::shared_mutex>, txsync::warming<txsync::mutex>, txsync::policy_mutex,
                   ticket_by_policy, txsync::elided<txsync::policy_mutex>, txsync::warming<ticket_by_policy>>;
using timed_locks_and_controls = with_controls<timed_locks, std::timed_mutex, std::shared_timed_mutex>::types;
TYPED_TEST_SUITE(TimedLocks, timed_locks_and_controls);

template <class Lock>
class SharedTimedLocks : public testing::Test {};
using shared_timed_locks =
    testing::Types<txsync::shared_mutex, txsync::occ_rwlock, txsync::futex_rwlock,
                   txsync::elided_shared<txsync::shared_mutex>, txsync::elided_shared<txsync::occ_rwlock>>;
using shared_timed_locks_and_controls = with_controls<shared_timed_locks, std::shared_timed_mutex>::types;
TYPED_TEST_SUITE(SharedTimedLocks, shared_timed_locks_and_controls);

TYPED_TEST(TimedLocks, AreTimedLockable) {
  static_assert(timed_lockable<TypeParam>);
  TypeParam lock;
  std::unique_lock holder(lock, 1s);
  EXPECT_TRUE(holder.owns_lock());
  EXPECT_FALSE(elsewhere([&] { return std::unique_lock(lock, steady_clock::now() + 3ms).owns_lock(); }));
  holder.unlock();
  EXPECT_TRUE(holder.try_lock_until(std::chrono::system_clock::now() + 1s));
}

TYPED_TEST(TimedLocks, GiveUpAtTheDeadlineAndNotBefore) {
  TypeParam lock;
  std::unique_lock holder(lock);
  for (const auto time : {-5ms, 0ms, 1ms, 5ms}) {
    EXPECT_FALSE(elsewhere([&] {
      const auto end = steady_clock::now() + time;
      const bool got = lock.try_lock_for(time);
      EXPECT_GE(steady_clock::now(), end);
      return got;
    }));
    EXPECT_FALSE(elsewhere([&] {
      const auto end = std::chrono::system_clock::now() + time;
      const bool got = lock.try_lock_until(end);
      EXPECT_GE(std::chrono::system_clock::now(), end);
      return got;
    }));
  }
  holder.unlock();
  EXPECT_TRUE(elsewhere([&] { return std::unique_lock(lock, 0ms).owns_lock(); })) << "free: a try is enough";
}

TYPED_TEST(TimedLocks, WaitForWhoeverGivesUpInTime) {
  struct state {
    TypeParam lock;
    std::atomic<bool> held{false};
  };
  for (unsigned round = 0; round < rounds(20); ++round) {
    const auto shared = std::make_shared<state>();
    const auto found = run_team(3, [=](seat& me) {
      if (me.index() == 0) {
        const std::lock_guard holder(shared->lock);
        shared->held = true;
        return let_others_park();
      }
      if (!me.await("the holder", [&] { return shared->held.load(); })) return;
      me.at("try_lock_for(1 min)");
      if (!std::unique_lock(shared->lock, 1min).owns_lock()) me.fail("a minute was too short");
    });
    ASSERT_EQ(found, "");
  }
}

/// A clock that was set back while somebody waited for a time on it: as often as it is asked, it is as late.
struct stopped_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<stopped_clock>;
  static constexpr bool is_steady = false;
  static inline std::atomic<int> asked{0};
  static time_point now() noexcept { return time_point(++asked < 8 ? 0ns : 1h); }
};

TYPED_TEST(TimedLocks, GoByTheClockOfTheDeadline) {
  TypeParam lock;
  const std::lock_guard holder(lock);
  stopped_clock::asked = 0;
  EXPECT_FALSE(elsewhere([&] { return lock.try_lock_until(stopped_clock::time_point(1ms)); }));
  EXPECT_GE(stopped_clock::asked, 8);
}

/// Calls look(time, whether it is to come) with the first and the last time of clocks, and of coarser and finer times.
template <class Look>
void look_at_extremes(const Look& look) {
  const auto of_clock = [&]<class Clock>(Clock) {
    look(Clock::time_point::max(), true);
    look(Clock::time_point::min(), false);
    using hours = std::chrono::time_point<Clock, std::chrono::hours>;
    look(hours::max(), true);
    look(hours::min(), false);
    using fine = std::chrono::time_point<Clock, std::chrono::duration<double>>;
    look(fine::max(), true);
    look(fine(std::chrono::duration<double>(std::numeric_limits<double>::infinity())), true);
    look(fine::min(), false);
  };
  of_clock(steady_clock());
  of_clock(std::chrono::system_clock());
  of_clock(std::chrono::file_clock());
  look(std::chrono::sys_time<std::chrono::duration<std::int64_t, std::pico>>::max(), false);
}

/// Not the standard's: libstdc++'s own overflow.
template <class Lock>
class OurTimedLocks : public testing::Test {};
using our_timed_locks =
    testing::Types<txsync::mutex, txsync::tatas_lock, txsync::shared_mutex, txsync::occ_rwlock, txsync::futex_rwlock>;
TYPED_TEST_SUITE(OurTimedLocks, our_timed_locks, lock_names);

TYPED_TEST(OurTimedLocks, TakeTheExtremesOfClocks) {
  look_at_extremes([]<class Time>(Time time, bool to_come) {
    TypeParam lock;
    EXPECT_TRUE(lock.try_lock_until(time)) << "free: a try is enough";
    std::atomic<bool> got{false};
    if (to_come) {
      std::thread waiter = start([&] { got = lock.try_lock_until(time); });
      let_others_park();
      EXPECT_FALSE(got);
      lock.unlock();
      waiter.join();
      EXPECT_TRUE(got);
    } else {
      EXPECT_FALSE(elsewhere([&] { return lock.try_lock_until(time); }));
    }
  });
}

TYPED_TEST(OurTimedLocks, TakeAnyDuration) {
  TypeParam lock;
  const std::lock_guard holder(lock);
  const auto refused = [&](auto time) { EXPECT_FALSE(elsewhere([&] { return lock.try_lock_for(time); })); };
  refused(std::chrono::hours::min());
  refused(std::chrono::nanoseconds::min());
  refused(std::chrono::duration<double>(-std::numeric_limits<double>::infinity()));
  refused(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()));
  refused(std::chrono::duration<float, std::pico>(1.5f));
  refused(std::chrono::duration<unsigned>(0u));
}

TEST(ConditionVariable, TakesTheExtremesOfClocks) {
  txsync::mutex mutex;
  txsync::condition_variable changed;
  look_at_extremes([&]<class Time>(Time time, bool to_come) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_until(lock, time, [] { return true; }));
    if (!to_come) {
      EXPECT_EQ(changed.wait_until(lock, time), std::cv_status::timeout);
      return;
    }
    bool told = false;
    unsigned looks = 0;
    std::thread teller = start([&] {
      let_others_park();
      const std::lock_guard tell(mutex);
      told = true;
      changed.notify_one();
    });
    EXPECT_TRUE(changed.wait_until(lock, time, [&] {
      ++looks;
      return told;
    }));
    EXPECT_LT(looks, 100u) << "it sleeps";
    lock.unlock();
    teller.join();
  });
}

/// Threads whose patience is short, and some whose is not.
TYPED_TEST(TimedLocks, LoseNoSectionWhereThreadsGiveUp) {
  const auto shared = std::make_shared<guarded_by<TypeParam>>();
  const auto updates = std::make_shared<std::atomic<long>>(0);
  for (const unsigned threads : {2u, 4u, 16u}) {
    SCOPED_TRACE(threads);
    const auto found = run_team(threads, [=](seat& me) {
      long mine = 0;
      for (unsigned round = 0; round < rounds(8'000) / threads && !me.given_up(); ++round) {
        const auto patience = std::chrono::microseconds((round * 7 + me.index()) % 5 * 40);
        const bool waits = me.index() % 2 == 1 && round % 4 == 0;
        me.at(waits ? "lock()" : "try_lock_for()");
        std::unique_lock<TypeParam> section(shared->lock, std::defer_lock);
        if (waits) {
          section.lock();
        } else if (!section.try_lock_for(patience)) {
          continue;
        }
        shared->data.update(me, inside::yield, round);
        ++mine;
        me.tick();
      }
      *updates += mine;
    });
    EXPECT_EQ(found, "");
  }
  EXPECT_EQ(shared->data.count_is(*updates), "");
}

TYPED_TEST(SharedTimedLocks, AreSharedTimedLockable) {
  static_assert(shared_timed_lockable<TypeParam>);
  TypeParam lock;
  std::shared_lock reader(lock, 1s);
  EXPECT_TRUE(reader.owns_lock());
  EXPECT_TRUE(elsewhere([&] { return std::shared_lock(lock, steady_clock::now() + 1s).owns_lock(); }));
  EXPECT_FALSE(elsewhere([&] { return std::unique_lock(lock, 3ms).owns_lock(); }));
  reader.unlock();
  const std::unique_lock writer(lock, 1s);
  EXPECT_TRUE(writer.owns_lock());
  EXPECT_FALSE(elsewhere([&] {
    const auto end = steady_clock::now() + 3ms;
    const bool got = lock.try_lock_shared_until(end);
    EXPECT_GE(steady_clock::now(), end);
    return got;
  }));
  // Of a time before the machine was started, libstdc++'s type says that it has the lock.
  constexpr std::chrono::nanoseconds past = std::is_same_v<TypeParam, std::shared_timed_mutex> ? 1s : 1h;
  EXPECT_FALSE(elsewhere([&] { return lock.try_lock_shared_for(-past); }));
}

/// A writer waits for a reader, other readers wait for the writer, and it gives up: they go in beside the first one.
TYPED_TEST(SharedTimedLocks, ReadersGoInWhereTheWriterGivesUp) {
  struct state {
    TypeParam lock;
    std::atomic<bool> reading{false}, gave_up{false};
    std::atomic<unsigned> inside{0};
  };
  for (unsigned round = 0; round < rounds(10); ++round) {
    const auto shared = std::make_shared<state>();
    const auto found = run_team(5, [=](seat& me) {
      if (me.index() == 0) {
        const std::shared_lock first(shared->lock);
        shared->reading = true;
        (void)me.await("the readers that come after the writer",
                       [&] { return shared->gave_up && shared->inside == 3; });
        return;
      }
      if (!me.await("the first reader", [&] { return shared->reading.load(); })) return;
      if (me.index() == 1) {
        me.at("try_lock_for() beside a reader");
        if (shared->lock.try_lock_for(10ms)) me.fail("a writer got in beside a reader");
        shared->gave_up = true;
        return;
      }
      let_others_park();
      me.at("lock_shared() behind a writer that gives up");
      if (me.index() == 2) {
        const std::shared_lock reader(shared->lock);
        ++shared->inside;
        return;
      }
      const std::shared_lock reader(shared->lock, 1min);
      if (!reader.owns_lock()) return me.fail("a minute was too short");
      ++shared->inside;
    });
    ASSERT_EQ(found, "");
    EXPECT_TRUE(elsewhere([&] { return std::unique_lock(shared->lock, 1s).owns_lock(); }));
  }
}

/// Readers and writers whose patience is short, and some whose is not.
template <class Lock>
void lose_no_section_where_threads_give_up() {
  const auto shared = std::make_shared<guarded_by<Lock>>();
  const auto updates = std::make_shared<std::atomic<long>>(0);
  for (const unsigned threads : {2u, 4u, 16u}) {
    SCOPED_TRACE(threads);
    const auto found = run_team(threads, [=](seat& me) {
      long mine = 0;
      for (unsigned round = 0; round < rounds(8'000) / threads && !me.given_up(); ++round) {
        const auto patience = std::chrono::microseconds((round * 7 + me.index()) % 5 * 40);
        const bool waits = round % 8 == 0;
        me.at(waits ? "a wait" : "a wait with a deadline");
        if ((round + me.index()) % 3 == 0) {
          if (waits) {
            shared->lock.lock();
          } else if (!shared->lock.try_lock_for(patience)) {
            continue;
          }
          shared->data.update(me, inside::yield, round);
          ++mine;
          shared->lock.unlock();
        } else {
          if (waits) {
            shared->lock.lock_shared();
          } else if (!shared->lock.try_lock_shared_for(patience)) {
            continue;
          }
          shared->data.look(me, inside::yield, round);
          shared->lock.unlock_shared();
        }
        me.tick();
      }
      *updates += mine;
    });
    EXPECT_EQ(found, "");
  }
  EXPECT_EQ(shared->data.count_is(*updates), "");
}
TYPED_TEST(SharedTimedLocks, LoseNoSectionWhereThreadsGiveUp) { lose_no_section_where_threads_give_up<TypeParam>(); }

/// All that sleep are overdue at once: a thread that gives up may just have been handed the lock.
TEST(FutexRwlock, LosesNoSectionWhereThreadsGiveUpThatAreHandedIt) {
  txsync::detail::wait_with(txsync::detail::patience::none);
  lose_no_section_where_threads_give_up<txsync::futex_rwlock>();
  txsync::detail::wait_with(txsync::detail::patience::usual);
}

// Of waiters that a lock has no room to count: they look at growing distances, but not later than their deadline.
TEST(Naps, EndAtTheDeadline) {
  const std::uint64_t start = txsync::machine::clock_ns();
  EXPECT_TRUE(txsync::detail::nap(600'000'000'000, start + 1'000'000));
  EXPECT_GE(txsync::machine::clock_ns() - start, 1'000'000U);
}

TEST(Naps, ThereIsNoneAfterTheDeadline) {
  EXPECT_FALSE(txsync::detail::nap(600'000'000'000, txsync::machine::clock_ns()));
  EXPECT_FALSE(txsync::detail::nap(600'000'000'000, 0));
}

TEST(Naps, GrowAsFarAsTheirBound) {
  txsync::detail::doubling naps(3, 20);
  for (const std::uint64_t expected : {3, 6, 12, 20, 20}) EXPECT_EQ(naps.next(), expected);
}

}  // namespace
