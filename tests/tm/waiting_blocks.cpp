// SPDX-License-Identifier: Apache-2.0
// Blocks that wait by retry(): who wakes them, for how long they wait, and what they may wait for (native machine).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "every_algorithm.hpp"

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using stm::atomically;
using stm::var;

constinit stm::block plain{"test.waiting_blocks"};

class WaitingBlocks : public every_algorithm {};
TXSYNC_FOR_EVERY_ALGORITHM(WaitingBlocks);

struct alignas(256) apart {
  var<int> value{0};
};

void wait_for_sleep(stm::block& waiting, std::uint64_t before) {
  while (stm::totals(waiting).waits == before) std::this_thread::yield();
}

/// A block of `waiting` sleeps while blocks of `writing` write another place. Returns how often it slept.
std::uint64_t sleeps_beside_writers(stm::block& waiting, stm::block& writing) {
  apart full;
  apart other;
  const std::uint64_t before = stm::totals(waiting).waits;
  std::thread waiter([&] {
    atomically(waiting, [&](auto& tx) {
      if (tx.read(full.value) == 0) tx.retry();
    });
  });
  wait_for_sleep(waiting, before);
  for (int i = 0; i < 2'000; ++i) {
    atomically(writing, [&](auto& tx) { tx.write(other.value, i); });
  }
  atomically(plain, [&](auto& tx) { tx.write(full.value, 1); });
  waiter.join();
  return stm::totals(waiting).waits - before;
}

TEST_P(WaitingBlocks, AreNotWokenByWritersOfOtherData) {
  static constinit stm::block waiting{"test.waiting_blocks.other_data"};
  EXPECT_EQ(sleeps_beside_writers(waiting, plain), 1u);
}

TEST_P(WaitingBlocks, AreNotWokenByThemWhenTheyRunAlone) {
  static constinit stm::block waiting{"test.waiting_blocks.alone", {.attempts = 0}};
  EXPECT_EQ(sleeps_beside_writers(waiting, plain), 1u);
}

TEST_P(WaitingBlocks, AreNotWokenByIrrevocableWritersOfOtherData) {
  static constinit stm::block waiting{"test.waiting_blocks.irrevocable"};
  static constinit stm::block writing{"test.waiting_blocks.irrevocable_writer", {.irrevocable = true}};
  EXPECT_EQ(sleeps_beside_writers(waiting, writing), 1u);
}

TEST_P(WaitingBlocks, AreAllWokenByAnIrrevocableBlockThatWritesMuch) {
  static constinit stm::block waiting{"test.waiting_blocks.much"};
  static constinit stm::block writing{"test.waiting_blocks.much_writer", {.irrevocable = true}};
  std::vector<apart> places(64);
  const std::uint64_t before = stm::totals(waiting).waits;
  std::thread waiter([&] {
    atomically(waiting, [&](auto& tx) {
      if (tx.read(places.back().value) == 0) tx.retry();
    });
  });
  wait_for_sleep(waiting, before);
  atomically(writing, [&](auto& tx) {
    for (apart& one : places) tx.write(one.value, 1);
  });
  waiter.join();
}

TEST_P(WaitingBlocks, MayReadMoreThanASleeperIsCountedFor) {
  static constinit stm::block waiting{"test.waiting_blocks.long"};
  std::vector<apart> places(10'000);
  const std::uint64_t before = stm::totals(waiting).waits;
  std::thread waiter([&] {
    atomically(waiting, [&](auto& tx) {
      long sum = 0;
      for (apart& one : places) sum += tx.read(one.value);
      if (sum == 0) tx.retry();
    });
  });
  wait_for_sleep(waiting, before);
  atomically(plain, [&](auto& tx) { tx.write(places.back().value, 1); });
  waiter.join();
}

TEST_P(WaitingBlocks, EndTheProgramIfTheyHaveReadOnlyWhatTheyHaveWritten) {
  apart mine;
  for (const bool alone : {false, true}) {
    static constinit stm::block together{"test.waiting_blocks.own"};
    static constinit stm::block serial{"test.waiting_blocks.own_alone", {.attempts = 0}};
    EXPECT_DEATH(atomically(alone ? serial : together,
                            [&](auto& tx) {
                              tx.write(mine.value, 1);
                              if (tx.read(mine.value) == 1) tx.retry();
                            }),
                 "^txsync: retry\\(\\) in an atomic block that has read nothing");
  }
}

TEST_P(WaitingBlocks, WaitForWhatTheyHaveReadBeforeTheyWroteIt) {
  static constinit stm::block waiting{"test.waiting_blocks.read_first"};
  apart place;
  const std::uint64_t before = stm::totals(waiting).waits;
  std::thread waiter([&] {
    atomically(waiting, [&](auto& tx) {
      const int seen = tx.read(place.value);
      tx.write(place.value, seen + 10);
      if (seen == 0) tx.retry();
    });
  });
  wait_for_sleep(waiting, before);
  EXPECT_EQ(place.value.load(), 0);
  atomically(plain, [&](auto& tx) { tx.write(place.value, 1); });
  waiter.join();
  EXPECT_EQ(place.value.load(), 11);
}

TEST_P(WaitingBlocks, HoldUpNobodyWhoNeedsWhatTheyHaveWritten) {
  static constinit stm::block waiting{"test.waiting_blocks.owner"};
  apart full;
  apart written;
  const std::uint64_t before = stm::totals(waiting).waits;
  std::thread waiter([&] {
    atomically(waiting, [&](auto& tx) {
      tx.write(written.value, 1);
      if (tx.read(full.value) == 0) tx.retry();
    });
  });
  wait_for_sleep(waiting, before);
  atomically(plain, [&](auto& tx) { tx.write(written.value, 2); });
  EXPECT_EQ(written.value.load(), 2);
  atomically(plain, [&](auto& tx) { tx.write(full.value, 1); });
  waiter.join();
  EXPECT_EQ(written.value.load(), 1);
}

// Deadlines.

/// Whether something came in time.
bool wait_until(var<int>& full, steady_clock::time_point deadline) {
  return atomically(plain, [&](auto& tx) {
    if (tx.read(full) != 0) return true;
    tx.retry_until(deadline);
    return false;
  });
}

TEST_P(WaitingBlocks, GoOnAtTheirDeadline) {
  apart full;
  const auto start = steady_clock::now();
  EXPECT_FALSE(wait_until(full.value, start + milliseconds(20)));
  EXPECT_GE(steady_clock::now() - start, milliseconds(20));
  EXPECT_FALSE(wait_until(full.value, start)) << "it has passed";
}

TEST_P(WaitingBlocks, GoOnAtOnceWhereTheDeadlineHasPassedAlsoIfTheyAreIrrevocable) {
  static constinit stm::block irrevocable{"test.waiting_blocks.past", {.irrevocable = true}};
  apart full;
  const int seen = atomically(irrevocable, [&](auto& tx) {
    const int found = tx.read(full.value);
    tx.retry_until(steady_clock::now() - milliseconds(1));
    return found;
  });
  EXPECT_EQ(seen, 0);
}

TEST_P(WaitingBlocks, GoOnBeforeTheirDeadlineIfThereIsAChange) {
  static constinit stm::block counted{"test.waiting_blocks.in_time"};
  apart full;
  std::atomic<bool> came{false};
  const std::uint64_t before = stm::totals(counted).waits;
  std::thread waiter([&] {
    came = atomically(counted, [&](auto& tx) {
      if (tx.read(full.value) != 0) return true;
      tx.retry_until(steady_clock::now() + std::chrono::hours(1));
      return false;
    });
  });
  wait_for_sleep(counted, before);
  atomically(plain, [&](auto& tx) { tx.write(full.value, 1); });
  waiter.join();
  EXPECT_TRUE(came);
}

TEST_P(WaitingBlocks, WaitForTheEarliestDeadlineOfTheirAlternatives) {
  apart first;
  apart second;
  const auto start = steady_clock::now();
  const int taken = atomically(plain, [&](auto& tx) {
    int found = 0;
    tx.or_else(
        [&](auto& inner) {
          if (inner.read(first.value) == 0) {
            inner.retry_until(start + milliseconds(10));
            found = 1;
          }
        },
        [&](auto& inner) {
          if (inner.read(second.value) == 0) inner.retry();
          found = 2;
        });
    return found;
  });
  EXPECT_EQ(taken, 1);
  EXPECT_GE(steady_clock::now() - start, milliseconds(10));
}

TEST_P(WaitingBlocks, ADeadlineOfABlockThatCommittedIsForgotten) {
  apart never;
  apart full;
  atomically(plain, [&](auto& tx) {
    tx.or_else([&](auto& inner) { inner.retry_until(steady_clock::now() + milliseconds(1)); }, [](auto&) {});
  });
  std::this_thread::sleep_for(milliseconds(2));
  const std::uint64_t before = stm::totals(plain).waits;
  std::thread waker([&] {
    wait_for_sleep(plain, before);
    std::this_thread::sleep_for(milliseconds(5));
    atomically(plain, [&](auto& tx) { tx.write(full.value, 1); });
  });
  atomically(plain, [&](auto& tx) {
    if (tx.read(full.value) == 0) tx.retry();
  });
  waker.join();
  EXPECT_EQ(stm::totals(plain).waits - before, 1u);
}

}  // namespace
