// SPDX-License-Identifier: Apache-2.0
// The conformance suite: reader-writer rules, at 1, 2, 4 and 16 threads. What locks of one mode must do, these must do
// as well; they run there too.
#include <gtest/gtest.h>

#include <shared_mutex>

#include "locks_under_test.hpp"
#include "scenarios/handover.hpp"
#include "scenarios/reader_writer.hpp"

namespace {

using namespace conformance;

template <class Lock>
class ReadersWriters : public testing::Test {};
TYPED_TEST_SUITE(ReadersWriters, shared_locks, lock_names);

template <class Lock>
concept shared_lockable = requires(Lock& lock) {
  lock.lock_shared();
  { lock.try_lock_shared() } -> std::same_as<bool>;
  lock.unlock_shared();
};

TYPED_TEST(ReadersWriters, ReadersAreInsideTogether) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(readers_meet_inside<TypeParam>(threads, rounds(60)), "");
  }
}

TYPED_TEST(ReadersWriters, WritersAreAlone) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    const unsigned writers = (threads + 3) / 4;
    for (const unsigned some : {writers, threads - writers}) {
      EXPECT_EQ(readers_and_writers<TypeParam>(threads, some, rounds(16'000 / threads), inside::nothing), "");
      EXPECT_EQ(readers_and_writers<TypeParam>(threads, some, rounds(4'000 / threads), inside::work), "");
      EXPECT_EQ(readers_and_writers<TypeParam>(threads, some, rounds(4'000 / threads), inside::yield), "");
      EXPECT_EQ(readers_and_writers<TypeParam>(threads, some, rounds(320 / threads), inside::sleep), "");
    }
  }
}

TYPED_TEST(ReadersWriters, AllWaysInGoTogether) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(all_ways_in<TypeParam>(threads, rounds(16'000 / threads), inside::nothing), "");
    EXPECT_EQ(all_ways_in<TypeParam>(threads, rounds(4'000 / threads), inside::work), "");
    EXPECT_EQ(all_ways_in<TypeParam>(threads, rounds(320 / threads), inside::sleep), "");
  }
}

TYPED_TEST(ReadersWriters, TriesTellTheTruth) { EXPECT_EQ(tries_tell_the_truth<TypeParam>(rounds(60)), ""); }

TYPED_TEST(ReadersWriters, ModesHandOver) {
  for (const unsigned readers : {1u, 2u, 4u, 16u}) {
    SCOPED_TRACE(readers);
    EXPECT_EQ(modes_hand_over<TypeParam>(readers, rounds(24), waits::short_ones), "");
    EXPECT_EQ(modes_hand_over<TypeParam>(readers, rounds(8), waits::long_ones), "");
  }
}

TYPED_TEST(ReadersWriters, AWriterGetsIn) {
  if constexpr (promises<TypeParam>::writers_get_in) {
    EXPECT_EQ(writer_gets_in<TypeParam>(2, rounds(40)), "");
    EXPECT_EQ(writer_gets_in<TypeParam>(8, rounds(16)), "");
  } else {
    GTEST_SKIP() << "not promised";
  }
}

TYPED_TEST(ReadersWriters, AReaderGetsIn) {
  if constexpr (promises<TypeParam>::readers_get_in) {
    EXPECT_EQ(reader_gets_in<TypeParam>(2, rounds(40)), "");
    EXPECT_EQ(reader_gets_in<TypeParam>(8, rounds(16)), "");
  } else {
    GTEST_SKIP() << "not promised";
  }
}

TYPED_TEST(ReadersWriters, WorksWithTheGuardsOfTheStandard) {
  static_assert(shared_lockable<TypeParam>);
  TypeParam lock;
  std::shared_lock first(lock);
  std::shared_lock second(lock, std::try_to_lock);
  EXPECT_TRUE(second.owns_lock()) << "a second reader";
  EXPECT_FALSE(lock.try_lock());
  second.unlock();
  std::shared_lock moved(std::move(first));
  moved.unlock();
  EXPECT_TRUE(lock.try_lock()) << "the readers have left";
  EXPECT_FALSE(lock.try_lock_shared());
  lock.unlock();
}

TEST(Srwlock, TellsItsModeAndItsReaders) {
  using txsync::latch_mode;
  txsync::srwlock latch;
  const auto is = [&](latch_mode mode, unsigned readers) { return latch.mode() == mode && latch.readers() == readers; };
  EXPECT_TRUE(is(latch_mode::none, 0));
  latch.lock();
  EXPECT_TRUE(is(latch_mode::exclusive, 0));
  latch.downgrade();
  EXPECT_TRUE(is(latch_mode::shared, 1));
  for (unsigned readers = 2; readers <= 100; ++readers) {
    latch.lock_shared();
    ASSERT_TRUE(is(latch_mode::shared, readers));
  }
  EXPECT_FALSE(latch.try_upgrade()) << "there are other readers";
  for (unsigned readers = 99; readers >= 1; --readers) {
    latch.unlock_shared();
    ASSERT_TRUE(is(latch_mode::shared, readers));
  }
  EXPECT_TRUE(latch.try_upgrade());
  EXPECT_TRUE(is(latch_mode::exclusive, 0));
  EXPECT_FALSE(latch.try_lock_shared());
  latch.unlock();
  EXPECT_TRUE(is(latch_mode::none, 0));
}

TEST(Srwlock, TellsTheSameWhileOthersWait) {
  using txsync::latch_mode;
  struct state {
    txsync::srwlock latch;
    std::atomic<unsigned> reading{0}, coming{0};
  };
  const auto shared = std::make_shared<state>();
  // Three readers; the first asks, while two writers wait.
  const auto found = run_team(5, [=](seat& me) {
    if (me.index() >= 3) {
      if (!me.await("readers", [&] { return shared->reading == 3; })) return;
      ++shared->coming;
      me.at("lock()");
      const std::lock_guard writing(shared->latch);
      if (shared->latch.mode() != latch_mode::exclusive) me.fail("a writer is not told of itself");
      if (shared->latch.readers() != 0) me.fail("readers beside a writer");
      return;
    }
    me.at("lock_shared()");
    const std::shared_lock reading(shared->latch);
    ++shared->reading;
    if (!me.await("the writers", [&] { return shared->reading == 3 && shared->coming >= 2; })) return;
    if (me.index() != 0) {
      (void)me.await("the first reader's questions", [&] { return shared->coming == 3; });
      return;
    }
    let_others_park();
    if (shared->latch.mode() != latch_mode::shared) me.fail("not shared though readers are inside");
    if (shared->latch.readers() != 3) me.fail("the number of readers is not 3");
    if (shared->latch.try_upgrade()) me.fail("upgraded beside other readers");
    shared->coming = 3;
  });
  EXPECT_EQ(found, "");
}

/// Upgrades and downgrades among readers and writers; a failed upgrade leaves the reader inside.
TEST(Srwlock, ChangesItsModeInPlace) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    const auto shared = std::make_shared<guarded_by<txsync::srwlock>>();
    const auto updates = std::make_shared<std::atomic<long>>(0);
    const auto found = run_team(threads, [=](seat& me) {
      txsync::srwlock& latch = shared->lock;
      long mine = 0;
      for (unsigned round = 0; round < rounds(2'000) / threads && !me.given_up(); ++round) {
        me.at("lock_shared() and try_upgrade()");
        latch.lock_shared();
        shared->data.look(me, inside::yield, round);
        if (latch.try_upgrade()) {
          shared->data.update(me, inside::yield, round);
          ++mine;
          latch.downgrade();
        }
        shared->data.look(me, inside::yield, round);
        latch.unlock_shared();
        me.tick();
        if (round % 4 != 0) continue;
        me.at("lock() and downgrade()");
        latch.lock();
        shared->data.update(me, inside::yield, round);
        ++mine;
        latch.downgrade();
        shared->data.look(me, inside::yield, round);
        latch.unlock_shared();
      }
      *updates += mine;
    });
    EXPECT_EQ(found, "");
    EXPECT_EQ(shared->data.count_is(*updates), "");
  }
}

TEST(OccRwlock, TellsItsReadersAndItsWriter) {
  txsync::occ_rwlock lock;
  EXPECT_EQ(lock.readers(), 0u);
  EXPECT_FALSE(lock.has_writer());
  lock.lock_shared();
  lock.lock_shared();
  EXPECT_EQ(lock.readers(), 2u);
  EXPECT_FALSE(lock.has_writer());
  lock.unlock_shared();
  lock.unlock_shared();
  lock.lock();
  EXPECT_EQ(lock.readers(), 0u);
  EXPECT_TRUE(lock.has_writer());
  lock.unlock();
  EXPECT_FALSE(lock.has_writer());
}

}  // namespace
