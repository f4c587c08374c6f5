// SPDX-License-Identifier: Apache-2.0
// Counts that share a word with other things: as much as they can say, and one more. What a lock cannot count it
// refuses or lets wait, and never lets in. Most counts say more than a test can bring about one by one, so that the
// words are written as if it had.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include <txsync/barrier.hpp>
#include <txsync/condition_variable.hpp>

#include "harness/budget.hpp"
#include "harness/words.hpp"
#include "locks_under_test.hpp"
#include "scenarios/exclusion.hpp"

namespace {

using namespace conformance;
using namespace std::chrono_literals;

// ---- shared holds

template <class Lock>
struct holds {
  using word = std::uint64_t;
  static constexpr word one = 1;
  static constexpr word most = 1U << 30;
};
template <>
struct holds<txsync::occ_rwlock> {
  using word = std::uint32_t;
  static constexpr word one = 1;
  static constexpr word most = 1U << 30;
};
template <>
struct holds<txsync::srwlock> {
  using word = std::uint32_t;
  static constexpr word one = 4;
  static constexpr word most = 1U << 29;
};

/// As many shared holds as that, of which none is this test's own.
template <class Lock>
void put_holds(Lock& lock, typename holds<Lock>::word count) {
  word_of<typename holds<Lock>::word>(lock).store(count * holds<Lock>::one);
}

template <class Lock>
class SharedHolds : public testing::Test {};
using our_shared_locks =
    testing::Types<txsync::occ_rwlock, txsync::futex_rwlock, txsync::srwlock, txsync::shared_mutex>;
TYPED_TEST_SUITE(SharedHolds, our_shared_locks, lock_names);

// shared_mutex let a writer in beside 16,384 of them, whoever had them.
TYPED_TEST(SharedHolds, OfOneThreadKeepWritersOut) {
  for (const unsigned many : {4'095U, 4'096U, 16'383U, 16'384U, 65'536U}) {
    TypeParam lock;
    for (unsigned i = 0; i < many; ++i) ASSERT_TRUE(lock.try_lock_shared());
    EXPECT_EQ(lock.readers(), many);
    EXPECT_FALSE(lock.has_writer());
    EXPECT_FALSE(lock.try_lock());
    for (unsigned i = 0; i < many; ++i) lock.unlock_shared();
    EXPECT_TRUE(lock.try_lock());
  }
}

TYPED_TEST(SharedHolds, OneMoreThanCanBeCountedIsRefused) {
  TypeParam lock;
  constexpr auto most = holds<TypeParam>::most;
  put_holds(lock, most - 1);
  EXPECT_TRUE(lock.try_lock_shared());
  EXPECT_EQ(lock.readers(), most);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_FALSE(lock.try_lock_shared());
    EXPECT_FALSE(lock.try_lock());
    if constexpr (requires { lock.try_lock_shared_until_ns(soon()); }) {
      EXPECT_FALSE(lock.try_lock_shared_until_ns(soon()));
      EXPECT_FALSE(lock.try_lock_until_ns(soon()));
    }
  }
  EXPECT_EQ(lock.readers(), most);
  EXPECT_FALSE(lock.has_writer());
  lock.unlock_shared();
  EXPECT_TRUE(lock.try_lock_shared());
  put_holds(lock, 1);
  lock.unlock_shared();
  EXPECT_TRUE(lock.try_lock());
}

TYPED_TEST(SharedHolds, OneMoreThanCanBeCountedWaits) {
  struct state {
    TypeParam lock;
    std::atomic<unsigned> inside{0}, tried{0};
  };
  const auto shared = std::make_shared<state>();
  constexpr auto most = holds<TypeParam>::most;
  put_holds(shared->lock, most);
  // Two readers too many, and one who looks whether they, or a writer, get in.
  const auto found = run_team(3, [=](seat& me) {
    if (me.index() != 0) {
      me.at("lock_shared() of a lock that has all the readers it can have");
      shared->lock.lock_shared();
      ++shared->inside;
      return;
    }
    for (unsigned left = 0; left <= 2; ++left) {
      let_others_park();
      if (!me.await("the readers that there is room for", [&] { return shared->inside >= left; })) return;
      if (shared->inside != left || shared->lock.readers() < most) return me.fail("a reader got in without room");
      if (shared->lock.try_lock()) return me.fail("a writer got in beside readers");
      if (left != 2) shared->lock.unlock_shared();
      me.tick();
    }
  });
  EXPECT_EQ(found, "");
  EXPECT_EQ(shared->lock.readers(), most);
}

// ---- waiters

/// All that the aside of a futex_mutex can count, and some more: each gives up in time, and is counted no more.
TEST(Waiters, OfAFutexMutexWithDeadlines) {
  struct state {
    txsync::futex_mutex lock;
    std::atomic<unsigned> late{0};
  };
  constexpr unsigned threads = 31 + 3;
  const auto shared = std::make_shared<state>();
  const auto found = run_team(1 + threads, [=](seat& me) {
    if (me.index() != 0) {
      if (!me.await("the holder", [&] { return shared->lock.is_held(); })) return;
      me.at("try_lock_until_ns() of a lock that is held");
      if (shared->lock.try_lock_until_ns(txsync::machine::clock_ns() + 50'000'000)) {
        return me.fail("a held lock was acquired");
      }
      ++shared->late;
      return;
    }
    shared->lock.lock();
    if (!me.await("their deadlines", [&] { return shared->late == threads; })) return;
    if (shared->lock.is_waited_for()) me.fail("a thread that is gone still counts as a waiter");
    shared->lock.unlock();
  });
  EXPECT_EQ(found, "");
  EXPECT_TRUE(shared->lock.try_lock());
}

/// The line of a futex_mutex is as long as it can be, of threads that never come: one more draws no number.
TEST(Waiters, OfAFutexMutexBeyondItsLine) {
  constexpr std::uint64_t held = 1, drawn = std::uint64_t{4'095} << 29, line_and_head = std::uint64_t{3} << 50;
  constexpr std::uint64_t drawn_bits = std::uint64_t{0x1FFF} << 29;
  struct state {
    txsync::futex_mutex lock;
    std::atomic<bool> got{false};
  };
  const auto shared = std::make_shared<state>();
  word_of<std::uint64_t>(shared->lock).store(held | drawn | line_and_head);
  const auto found = run_team(2, [=](seat& me) {
    if (me.index() != 0) {
      me.at("lock()");
      shared->lock.lock();
      shared->got = true;
      return;
    }
    let_others_park();
    if (shared->got) me.fail("a held lock was acquired");
    if ((word_of<std::uint64_t>(shared->lock).load() & drawn_bits) != drawn) me.fail("a number too many was drawn");
    shared->lock.unlock();
    (void)me.await("the thread that looks now and then", [&] { return shared->got.load(); });
  });
  EXPECT_EQ(found, "");
}

/// A condition variable counts 65,535 threads, notified or not. One more returns soon, and changes nothing.
TEST(Waiters, OfAConditionVariable) {
  constexpr std::uint64_t most = 0xFFFF, leaver = 1 << 16;
  txsync::mutex mutex;
  std::unique_lock lock(mutex);
  for (const std::uint64_t leavers : {std::uint64_t{0}, std::uint64_t{5}, most}) {
    SCOPED_TRACE(leavers);
    txsync::condition_variable changed;
    std::atomic<std::uint64_t>& word = word_of<std::uint64_t>(changed);
    const std::uint64_t full = most - leavers + leavers * leaver;
    word.store(full);
    changed.wait(lock);
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_EQ(changed.wait_until_ns(lock, txsync::machine::clock_ns()), std::cv_status::timeout);
    EXPECT_FALSE(changed.wait_for(lock, 5ms, [] { return false; }));
    EXPECT_TRUE(changed.wait_with(lock));
    EXPECT_EQ(word.load(), full);
    changed.notify_all();
    EXPECT_EQ(word.load() & 0xFFFF'FFFF, most * leaver) << "all are notified, and have not left";
    word.store(0);  // or the destructor waits for them
  }
}

TEST(Waiters, OfAConditionVariableTheLastThatCanBeCounted) {
  struct state {
    txsync::mutex mutex;
    txsync::condition_variable changed;
    bool told = false;
  };
  const auto shared = std::make_shared<state>();
  std::atomic<std::uint64_t>& word = word_of<std::uint64_t>(shared->changed);
  word.store(0xFFFE);
  const auto found = run_team(2, [=](seat& me) {
    std::unique_lock lock(shared->mutex);
    if (me.index() != 0) {
      me.at("wait()");
      return shared->changed.wait(lock, [&] { return shared->told; });
    }
    lock.unlock();
    if (!me.await("the wait", [&] { return (word_of<std::uint64_t>(shared->changed) & 0xFFFF) == 0xFFFF; })) return;
    let_others_park();
    lock.lock();
    shared->told = true;
    shared->changed.notify_all();
  });
  EXPECT_EQ(found, "");
  EXPECT_EQ(word.load() & 0xFFFF'FFFF, std::uint64_t{0xFFFE} << 16);
  word.store(0);
}

// ---- numbers that begin anew

/// Threads that add up under a lock whose numbers are about to begin anew.
template <class Lock>
violation counts_rightly(std::shared_ptr<guarded_by<Lock>> shared) {
  constexpr unsigned threads = 6;
  const unsigned sections = rounds(400);
  const auto found = run_team(threads, [=](seat& me) {
    for (unsigned round = 0; round < sections && !me.given_up(); ++round) {
      me.at("lock()");
      const std::lock_guard writing(shared->lock);
      shared->data.update(me, inside::nothing, round);
      me.tick();
    }
  });
  return found.empty() ? shared->data.count_is(long{threads} * sections) : found;
}

TEST(Numbers, OfTicketsBeginAnew) {
  const auto shared = std::make_shared<guarded_by<txsync::fifo_ticket_lock>>();
  for (const std::size_t i : {0U, 1U}) word_of<std::uint32_t>(shared->lock, i).store(0xFFFF'FFFB);
  EXPECT_EQ(counts_rightly(shared), "");
  EXPECT_FALSE(shared->lock.is_held());
}

TEST(Numbers, OfTicketsAndOfThreadsOutsideBeginAnew) {
  const auto shared = std::make_shared<guarded_by<txsync::ticket_lock>>();
  // Those of the queue, and those of the limiter.
  for (const std::size_t i : {0U, 1U, 2U, 3U}) word_of<std::uint32_t>(shared->lock, i).store(0xFFFF'FFFB);
  txsync::detail::lower_patience(8);
  EXPECT_EQ(counts_rightly(shared), "");
  txsync::detail::lower_patience(0);
  EXPECT_FALSE(shared->lock.is_held());
}

TEST(Numbers, OfAFutexMutexsLineBeginAnew) {
  const auto shared = std::make_shared<guarded_by<txsync::futex_mutex>>();
  constexpr std::uint64_t last = 0x1FFF;
  word_of<std::uint64_t>(shared->lock).store(last << 16 | last << 29 | std::uint64_t{1} << 63);
  EXPECT_EQ(counts_rightly(shared), "");
  EXPECT_FALSE(shared->lock.is_held());
}

TEST(Numbers, OfABarriersPhasesBeginAnew) {
  constexpr unsigned threads = 3, phases = 6;
  struct state {
    txsync::barrier phase_barrier{threads};
    std::atomic<unsigned> arrived{0}, lasts{0};
  };
  const auto shared = std::make_shared<state>();
  constexpr std::size_t generation = 32;  // behind a line of 128 bytes
  word_of<std::uint32_t>(shared->phase_barrier, generation).store(0xFFFF'FFFD);
  const auto found = run_team(threads, [=](seat& me) {
    for (unsigned phase = 1; phase <= phases; ++phase) {
      me.at("arrive_and_wait()");
      ++shared->arrived;
      if (shared->phase_barrier.arrive_and_wait()) ++shared->lasts;
      if (shared->arrived < phase * threads) return me.fail("a thread left before all had arrived");
      me.tick();
    }
  });
  EXPECT_EQ(found, "");
  EXPECT_EQ(shared->lasts, phases);
}

}  // namespace
