// SPDX-License-Identifier: Apache-2.0
// The conformance suite: reader-writer rules, at 1, 2, 4 and 16 threads. What locks of one mode must do, these must do
// as well; they run there too.
#include <gtest/gtest.h>

#include <shared_mutex>

#include "locks_under_test.hpp"
#include "scenarios/reader_writer.hpp"

namespace {

using namespace conformance;

template <class Lock>
concept shared_lockable = requires(Lock& lock) {
  lock.lock_shared();
  { lock.try_lock_shared() } -> std::same_as<bool>;
  lock.unlock_shared();
};

template <class Lock>
violation works_with_the_guards_of_the_standard() {
  static_assert(shared_lockable<Lock>);
  Lock lock;
  std::shared_lock first(lock);
  std::shared_lock second(lock, std::try_to_lock);
  if (!second.owns_lock()) return "no second reader";
  if (lock.try_lock()) return "a writer beside readers";
  second.unlock();
  std::shared_lock moved(std::move(first));
  moved.unlock();
  if (!lock.try_lock()) return "the readers have left, and it is not free";
  if (lock.try_lock_shared()) return "a reader beside a writer";
  lock.unlock();
  return {};
}

/// A lock of the suite: what runs on any_shared_lock, and what is compiled for its own type.
struct reader_writer_rules {
  const char* name;
  bool writers_get_in;
  bool readers_get_in;
  const shared_lock_kind* kind;
  decltype(&readers_and_writers<std::shared_mutex>) readers_and_writers;
  decltype(&all_ways_in<std::shared_mutex>) all_ways_in;
  violation (*works_with_guards)();
};
template <class Lock>
constexpr reader_writer_rules typed_rules = {promises<Lock>::name,
                                             promises<Lock>::writers_get_in,
                                             promises<Lock>::readers_get_in,
                                             &shared_kind_of<Lock>,
                                             readers_and_writers<Lock>,
                                             all_ways_in<Lock>,
                                             works_with_the_guards_of_the_standard<Lock>};

void PrintTo(const reader_writer_rules* rules, std::ostream* out) { *out << rules->name; }

class ReadersWriters : public testing::TestWithParam<const reader_writer_rules*> {
 protected:
  ReadersWriters() { any_shared_lock::next_kind = lock.kind; }
  const reader_writer_rules& lock = *GetParam();
};

INSTANTIATE_TEST_SUITE_P(EveryLock, ReadersWriters,
                         one_of_each(shared_locks(), []<class Lock>() { return &typed_rules<Lock>; }), case_name());

TEST_P(ReadersWriters, ReadersAreInsideTogether) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(readers_meet_inside(threads, rounds(60)), "");
  }
}

TEST_P(ReadersWriters, WritersAreAlone) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    const unsigned writers = (threads + 3) / 4;
    for (const unsigned some : {writers, threads - writers}) {
      EXPECT_EQ(lock.readers_and_writers(threads, some, rounds(16'000 / threads), inside::nothing, usual_patience), "");
      EXPECT_EQ(lock.readers_and_writers(threads, some, rounds(4'000 / threads), inside::work, usual_patience), "");
      EXPECT_EQ(lock.readers_and_writers(threads, some, rounds(4'000 / threads), inside::yield, usual_patience), "");
      EXPECT_EQ(lock.readers_and_writers(threads, some, rounds(320 / threads), inside::sleep, usual_patience), "");
    }
  }
}

TEST_P(ReadersWriters, AllWaysInGoTogether) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(lock.all_ways_in(threads, rounds(16'000 / threads), inside::nothing, usual_patience), "");
    EXPECT_EQ(lock.all_ways_in(threads, rounds(4'000 / threads), inside::work, usual_patience), "");
    EXPECT_EQ(lock.all_ways_in(threads, rounds(320 / threads), inside::sleep, usual_patience), "");
  }
}

TEST_P(ReadersWriters, TriesTellTheTruth) { EXPECT_EQ(tries_tell_the_truth(rounds(60)), ""); }

TEST_P(ReadersWriters, ModesHandOver) {
  for (const unsigned readers : {1u, 2u, 4u, 16u}) {
    SCOPED_TRACE(readers);
    EXPECT_EQ(modes_hand_over(readers, rounds(24), waits::short_ones), "");
    EXPECT_EQ(modes_hand_over(readers, rounds(8), waits::long_ones), "");
  }
}

TEST_P(ReadersWriters, AWriterGetsIn) {
  if (!lock.writers_get_in) GTEST_SKIP() << "not promised";
  EXPECT_EQ(writer_gets_in(2, rounds(40)), "");
  EXPECT_EQ(writer_gets_in(8, rounds(16)), "");
}

TEST_P(ReadersWriters, AReaderGetsIn) {
  if (!lock.readers_get_in) GTEST_SKIP() << "not promised";
  EXPECT_EQ(reader_gets_in(2, rounds(40)), "");
  EXPECT_EQ(reader_gets_in(8, rounds(16)), "");
}

TEST_P(ReadersWriters, WorksWithTheGuardsOfTheStandard) { EXPECT_EQ(lock.works_with_guards(), ""); }

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

/// Writers that give it up by unlock_fair(), one that does not, and readers.
TEST(SharedMutex, UnlockFairHandsOverToReadersAndWriters) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    const auto shared = std::make_shared<guarded_by<txsync::shared_mutex>>();
    const auto updates = std::make_shared<std::atomic<long>>(0);
    const auto found = run_team(threads, [=](seat& me) {
      txsync::shared_mutex& lock = shared->lock;
      long mine = 0;
      for (unsigned round = 0; round < rounds(4'000) / threads && !me.given_up(); ++round) {
        if (me.index() % 4 == 3) {
          me.at("lock_shared()");
          const std::shared_lock reading(lock);
          shared->data.look(me, inside::yield, round);
        } else {
          me.at("lock()");
          lock.lock();
          shared->data.update(me, inside::yield, round);
          ++mine;
          me.at("unlock_fair()");
          me.index() == 1 ? lock.unlock() : lock.unlock_fair();
        }
        me.tick();
      }
      *updates += mine;
    });
    EXPECT_EQ(found, "");
    EXPECT_EQ(shared->data.count_is(*updates), "");
    EXPECT_FALSE(shared->lock.is_held());
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
