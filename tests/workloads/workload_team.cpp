// SPDX-License-Identifier: Apache-2.0
// How threads are started, stopped, counted and sampled.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "workloads/harness/pages.hpp"
#include "workloads/harness/random.hpp"
#include "workloads/harness/team.hpp"

namespace {

namespace w = txsync::workloads;
using std::uint64_t;

constexpr uint64_t ms = 1'000'000;

struct empty_shared {
  std::atomic<uint64_t> before_start{0};
  std::atomic<uint64_t> missing_at_start{0};
  unsigned threads = 0;
};

void count_only(w::worker& me, empty_shared& shared) {
  ++shared.before_start;
  me.wait_for_start();
  shared.missing_at_start += shared.threads - shared.before_start;
  while (me.more()) {
    me.begin();
    me.finish();
    ++me.tally(1);
  }
  me.tally(0) = me.index() + 1;
}

TEST(Team, StartsTogetherAndCountsOperationsExactly) {
  empty_shared shared{.threads = 5};
  const w::team_result result = w::run_team<count_only>(w::plan{.threads = 5, .operations = 777}, shared);
  EXPECT_EQ(result.seen.fault, nullptr);
  EXPECT_EQ(shared.missing_at_start, 0U) << "a thread began before all were ready";
  EXPECT_EQ(result.seen.operations, 5 * 777U);
  EXPECT_EQ(result.all_operations, 5 * 777U);
  EXPECT_EQ(result.tallies[0], 1U + 2 + 3 + 4 + 5) << "every index once";
  EXPECT_EQ(result.tallies[1], 5 * 777U);
}

TEST(Team, RunsForItsTime) {
  empty_shared shared{.threads = 2};
  const w::team_result result = w::run_team<count_only>(w::plan{.threads = 2, .duration_ns = 20 * ms}, shared);
  EXPECT_EQ(result.seen.fault, nullptr);
  EXPECT_GE(result.seen.elapsed_ns, 20 * ms);
  EXPECT_GT(result.seen.operations, 0U);
  EXPECT_LE(result.seen.fewest, result.seen.most);
  EXPECT_LE(result.seen.operations, 2 * result.seen.most);
  EXPECT_GE(result.all_operations, result.seen.operations);
  EXPECT_EQ(result.tallies[1], result.all_operations) << "what is counted is what was done";
}

TEST(Team, RunInIsNotMeasured) {
  empty_shared shared{.threads = 1};
  const w::plan how{.duration_ns = 1 * ms, .run_in_ns = 30 * ms};
  const w::team_result result = w::run_team<count_only>(how, shared);
  EXPECT_GT(result.all_operations, result.seen.operations);
  EXPECT_LT(result.seen.elapsed_ns, 30'000 * ms);
}

TEST(Team, SamplesEverySoManyth) {
  empty_shared shared{.threads = 3};
  const w::plan how{.threads = 3, .operations = 1'000, .sample_every = 10};
  EXPECT_EQ(w::run_team<count_only>(how, shared).seen.latency.count(), 3 * 99U);  // the 11th is the first
  const w::plan all{.threads = 1, .operations = 1'000, .sample_every = 1};
  EXPECT_EQ(w::run_team<count_only>(all, shared).seen.latency.count(), 999U);
  const w::plan rare{.threads = 1, .operations = 1'000, .sample_every = 1'000};
  EXPECT_EQ(w::run_team<count_only>(rare, shared).seen.latency.count(), 0U);
}

/// The test sets the length of the wait: threads report that they have the lock after a sleep.
struct waiting_shared {
  uint64_t sleep_ns;
  bool tells;
};
void wait_and_work(w::worker& me, waiting_shared& shared) {
  me.wait_for_start();
  while (me.more()) {
    const bool timed = me.begin();
    txsync::machine::sleep_ns(shared.sleep_ns);
    if (shared.tells) me.entered(timed);
    me.finish();
  }
}

TEST(Team, TimesEveryWaitWhereEveryOperationIsSampled) {
  waiting_shared shared{.sleep_ns = 2 * ms, .tells = true};
  const w::plan how{.threads = 2, .operations = 6, .sample_every = 1};
  const w::outcome seen = w::run_team<wait_and_work>(how, shared).seen;
  EXPECT_EQ(seen.waits.count(), 2 * 5U);  // the 2nd is the first
  EXPECT_GE(seen.max_wait_ns, 2 * ms);
  EXPECT_GE(seen.waits.percentile(0), 3 * ms / 2);
  EXPECT_LT(seen.wait_cpu_ns, 10 * ms) << "they slept through 20 ms of waiting";
}

TEST(Team, TellsNoWaitsOtherwise) {
  waiting_shared shared{.sleep_ns = 1, .tells = false};
  EXPECT_EQ(w::run_team<wait_and_work>(w::plan{.operations = 6, .sample_every = 1}, shared).seen.waits.count(), 0U);
  shared.tells = true;
  EXPECT_EQ(w::run_team<wait_and_work>(w::plan{.operations = 6, .sample_every = 2}, shared).seen.waits.count(), 0U);
}

TEST(Team, SaysWhatEachThreadDid) {
  empty_shared shared{.threads = 3};
  uint64_t operations[3] = {};
  const w::plan how{.threads = 3, .duration_ns = 5 * ms, .operations_by_thread = operations};
  const w::outcome seen = w::run_team<count_only>(how, shared).seen;
  EXPECT_EQ(operations[0] + operations[1] + operations[2], seen.operations);
  EXPECT_EQ(std::min({operations[0], operations[1], operations[2]}), seen.fewest);
}

namespace us_clock {

constexpr uint64_t us = 1'000;
constexpr auto unread = []() -> uint64_t { throw "the CPU clock was read"; };
auto says(uint64_t cpu) {
  return [cpu] { return cpu; };
}

}  // namespace us_clock

TEST(WaitClock, TakesShortIntervalsAsRunning) {
  using namespace us_clock;
  w::wait_clock clock;
  clock.start(0, 0);
  clock.begin(1 * us, unread);
  EXPECT_EQ(clock.end(1 * us, 3 * us, 5 * us, unread), 3 * us);
}

TEST(WaitClock, AsksTheCpuClockAfterLongWaits) {
  using namespace us_clock;
  w::wait_clock clock;
  clock.start(0, 100 * us);
  clock.begin(2 * us, unread);
  // 2 us before the wait, 1 us of section, and of the 90 us between the thread ran 20.
  EXPECT_EQ(clock.end(2 * us, 90 * us, 93 * us, says(123 * us)), 20 * us);
  // It spun: all 40 us.
  clock.begin(95 * us, unread);
  EXPECT_EQ(clock.end(95 * us, 40 * us, 136 * us, says(166 * us)), 40 * us);
}

TEST(WaitClock, LeavesOutLongWorkOutside) {
  using namespace us_clock;
  w::wait_clock clock;
  clock.start(0, 0);
  clock.begin(1'000 * us, says(700 * us));
  EXPECT_EQ(clock.end(1'000 * us, 50 * us, 1'051 * us, says(731 * us)), 30 * us);
}

TEST(WaitClock, CountsNoMoreThanTheWaitAndNoLessThanNothing) {
  using namespace us_clock;
  w::wait_clock clock;
  clock.start(0, 0);
  EXPECT_EQ(clock.end(0, 10 * us, 500 * us, says(20 * us)), 0U) << "the section of 490 us may have been all of it";
  EXPECT_EQ(clock.end(500 * us, 10 * us, 511 * us, says(90 * us)), 10 * us);
}

struct batch_shared {
  uint64_t batch;
  uint64_t largest = 0;
};

void take_batches(w::worker& me, batch_shared& shared) {
  me.wait_for_start();
  while (const uint64_t now = me.take(shared.batch)) {
    me.begin();
    if (now > shared.largest) shared.largest = now;
    me.finish(now);
  }
}

TEST(Team, BatchesEndAtTheLimitAndSamplesAreSingleOperations) {
  batch_shared shared{.batch = 64};
  EXPECT_EQ(w::run_team<take_batches>(w::plan{.operations = 1'000}, shared).seen.operations, 1'000U);
  EXPECT_EQ(shared.largest, 64U);
  const w::team_result sampled = w::run_team<take_batches>(w::plan{.operations = 1'000, .sample_every = 100}, shared);
  EXPECT_EQ(sampled.seen.operations, 1'000U);
  EXPECT_EQ(sampled.seen.latency.count(), 9U);
}

TEST(Team, ManyMoreThreadsThanCpus) {
  empty_shared shared{.threads = 64};
  const w::team_result result = w::run_team<count_only>(w::plan{.threads = 64, .operations = 10}, shared);
  EXPECT_EQ(result.seen.fault, nullptr);
  EXPECT_EQ(result.seen.operations, 640U);
}

TEST(Pages, ComeAgainCleanAndOnlyToArraysOfTheirSize) {
  const uint64_t* first = nullptr;
  {
    w::page_array<uint64_t> cells(5'000);
    ASSERT_TRUE(cells.ok());
    first = cells.data();
    for (uint64_t& cell : cells) cell = 7;
  }
  w::page_array<uint64_t> other(50'000);
  w::page_array<uint64_t> again(5'000);
  w::page_array<uint64_t> third(5'000);
  ASSERT_TRUE(other.ok() && again.ok() && third.ok());
  EXPECT_EQ(again.data(), first);
  EXPECT_NE(third.data(), first);
  EXPECT_NE(other.data(), first);
  for (const uint64_t cell : again) ASSERT_EQ(cell, 0U);
}

TEST(Pages, TooManyAreRefused) {
  const w::page_array<uint64_t> cells(~uint64_t{0} / 8);
  EXPECT_FALSE(cells.ok());
}

TEST(Random, StreamsOfNeighboursShareNothing) {
  std::set<uint64_t> seen;
  for (uint64_t number = 0; number < 64; ++number) {
    w::random_stream stream(1, number);
    for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(seen.insert(stream.next()).second);
  }
}

TEST(Random, BelowStaysBelowAndReachesEverything) {
  w::random_stream stream(7, 0);
  unsigned hits[10] = {};
  for (int i = 0; i < 10'000; ++i) ++hits[stream.below(10)];
  for (const unsigned count : hits) EXPECT_NEAR(count, 1'000, 200);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(stream.below(1), 0U);
  EXPECT_FALSE(stream.percent(0));
  EXPECT_TRUE(stream.percent(100));
}

}  // namespace
