// SPDX-License-Identifier: Apache-2.0
// What a lock's site counts of attempts (scripted machine): each end of an attempt by its cause, and the outcome of the
// critical section.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <thread>

#include <machine/scripted/script.hpp>
#include <observe/blocks.hpp>
#include <observe/commit_counts.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/mutex.hpp>
#include <txsync/speculate/elided.hpp>

#include "../observe/site_totals.hpp"
#include "unlearnt.hpp"

namespace {

namespace machine = txsync::machine;
namespace observe = txsync::observe;
using machine::attempt_status;
using txsync::abort_cause;
using txsync::elided;
using txsync::elision_policy;
using txsync::site_with_policy;
using txsync::tatas_lock;
using txsync::script::machine_script;
using txsync::script::plan;

constexpr std::uint32_t conflict = attempt_status::conflict_bit | attempt_status::retry_bit;
constexpr elision_policy three_tries{.attempts = 3, .adapts = txsync::adaptation::none};

constinit site_with_policy counted_place{"attempt_counts.counted", three_tries};
constinit site_with_policy other_place{"attempt_counts.other", three_tries};

constexpr elision_policy coarse{.adapts = txsync::adaptation::none, .max_sections = 4, .coarsens_after = 2};
constinit site_with_policy coarse_place{"attempt_counts.coarse", coarse};

class AttemptCounts : public testing::Test {
 protected:
  AttemptCounts() {
    have_unlearnt_rtm(script);
    before = totals_of(counted_place);
  }

  observe::site_totals since() { return observe::difference(totals_of(counted_place), before); }
  static std::uint64_t of(const observe::site_totals& totals, abort_cause why) {
    return totals.attempts.aborts[static_cast<std::size_t>(why)];
  }
  template <class Lock>
  static void sections(Lock& lock, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      lock.lock();
      lock.unlock();
    }
  }

  machine_script script;
  observe::site_totals before;
};

TEST_F(AttemptCounts, ASectionThatCommitsIsElided) {
  elided<tatas_lock> lock(counted_place);
  sections(lock, 5);
  const observe::site_totals seen = since();
  EXPECT_EQ(seen.attempts.commits, 5u);
  EXPECT_EQ(seen.attempts.elided, 5u);
  EXPECT_EQ(seen.acquisitions, 5u);
  EXPECT_EQ(seen.attempts.attempts(), 5u);
  EXPECT_EQ(seen.attempts.all_aborts(), 0u);
  EXPECT_EQ(seen.attempts.failed, 0u);
  EXPECT_EQ(seen.attempts.lost_ns, 0u);
}

TEST_F(AttemptCounts, EachAbortHasItsCause) {
  const std::pair<std::uint32_t, abort_cause> ends[] = {
      {conflict, abort_cause::conflict},
      {attempt_status::capacity_bit, abort_cause::capacity},
      {attempt_status::capacity_write_bit, abort_cause::capacity_write},
      {attempt_status::syscall_bit, abort_cause::syscall},
      {attempt_status::fault_bit, abort_cause::fault},
      {attempt_status::explicit_bit | 7u << 24, abort_cause::explicit_abort},
      {0, abort_cause::unknown}};
  for (const auto& [status, cause] : ends) {
    before = totals_of(counted_place);
    elided<tatas_lock> lock(counted_place);
    txsync::detail::forget_elision_history();
    script.on_begin_by_default(plan::aborts(status));
    const std::uint64_t begins = script.counted().begins;
    sections(lock, 1);
    const observe::site_totals seen = since();
    EXPECT_EQ(of(seen, cause), script.counted().begins - begins) << to_string(cause);
    EXPECT_EQ(seen.attempts.all_aborts(), of(seen, cause)) << to_string(cause);
    EXPECT_EQ(seen.attempts.commits, 0u) << to_string(cause);
    EXPECT_EQ(seen.attempts.failed, 1u) << to_string(cause);
  }
}

TEST_F(AttemptCounts, SectionsThatTakeTheLockAreFallbacks) {
  elided<tatas_lock> lock(counted_place);
  // One section in 256 is a sample: of these, 780; what half of them says has a standard error of 3.6 %.
  constexpr unsigned count = 200'000;
  for (unsigned i = 0; i < count / 2; ++i) {
    script.on_begin_by_default(plan::commits());
    sections(lock, 1);
    script.on_begin_by_default(plan::aborts(attempt_status::capacity_bit));
    sections(lock, 1);
  }
  const observe::site_totals seen = since();
  EXPECT_EQ(seen.attempts.commits, count / 2);
  EXPECT_EQ(seen.attempts.failed, count / 2);
  EXPECT_NEAR(static_cast<double>(seen.acquisitions), count, 0.05 * count);
  EXPECT_NEAR(static_cast<double>(seen.fallbacks()), count / 2, 0.1 * count);
  EXPECT_NEAR(static_cast<double>(seen.attempts.commits + seen.fallbacks()), count, 0.1 * count);
}

/// A mutex has the site itself, and counts there.
TEST_F(AttemptCounts, FallbacksOfALockThatCountsAreCountedOnce) {
  elided<txsync::mutex> lock(counted_place);
  script.on_begin_by_default(plan::aborts(attempt_status::capacity_bit));
  sections(lock, 20'000);
  EXPECT_NEAR(static_cast<double>(since().fallbacks()), 20'000, 0.2 * 20'000);
  EXPECT_EQ(since().attempts.failed, 20'000u);
}

TEST_F(AttemptCounts, WithoutAttemptsNothingIsCounted) {
  static constexpr elision_policy never{.attempts = 0};
  static constinit site_with_policy place{"attempt_counts.never", never};
  elided<tatas_lock> lock(place);
  before = totals_of(place);
  sections(lock, 1'000);  // enough for a sample
  const observe::site_totals seen = observe::difference(totals_of(place), before);
  EXPECT_EQ(seen.attempts.attempts(), 0u);
  EXPECT_GT(seen.acquisitions, 0u);
  EXPECT_EQ(seen.attempts.elided, 0u);
}

TEST_F(AttemptCounts, TheOutermostLocksSiteHasTheAttempt) {
  elided<tatas_lock> outer(counted_place);
  elided<tatas_lock> inner(other_place);
  const observe::site_totals other_before = totals_of(other_place);
  for (int i = 0; i < 10; ++i) {
    outer.lock();
    sections(inner, 2);
    outer.unlock();
  }
  EXPECT_EQ(since().attempts.commits, 10u);
  const observe::site_totals inner_seen = observe::difference(totals_of(other_place), other_before);
  EXPECT_EQ(inner_seen.attempts.attempts(), 0u);
}

TEST_F(AttemptCounts, ATryIsAnAttempt) {
  elided<tatas_lock> lock(counted_place);
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
  script.on_begin_by_default(plan::aborts(conflict));
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
  EXPECT_EQ(since().attempts.commits, 1u);
  EXPECT_EQ(of(since(), abort_cause::conflict), 1u);
  EXPECT_EQ(since().attempts.failed, 1u);
}

TEST_F(AttemptCounts, ATryThatFindsTheLockHeldIsNoSection) {
  elided<tatas_lock> lock(counted_place);
  script.on_begin(plan::aborts(attempt_status::capacity_bit));
  lock.lock();
  ASSERT_FALSE(machine::active());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_EQ(since().attempts.commits, 1u);
  EXPECT_EQ(since().attempts.elided, 0u);
}

TEST_F(AttemptCounts, AnAttemptMayRunSeveralSections) {
  elided<tatas_lock> lock(coarse_place);
  const observe::site_totals coarse_before = totals_of(coarse_place);
  sections(lock, 50);
  txsync::commit_coarsened();
  const observe::site_totals seen = observe::difference(totals_of(coarse_place), coarse_before);
  EXPECT_EQ(seen.attempts.elided, 50u);
  EXPECT_LT(seen.attempts.commits, 20u);
  EXPECT_EQ(seen.acquisitions, 50u);
  EXPECT_EQ(seen.fallbacks(), 0u);
}

TEST_F(AttemptCounts, OfQueueLocksAndReadersToo) {
  txsync::elided_with_node<txsync::mcs_lock> queue(counted_place);
  txsync::mcs_lock::node node;
  queue.lock(node);
  queue.unlock(node);
  txsync::elided_shared<txsync::occ_rwlock> table(counted_place);
  table.lock_shared();
  table.unlock_shared();
  sections(table, 1);
  EXPECT_EQ(since().attempts.commits, 3u);
}

TEST_F(AttemptCounts, OfThreadsThatHaveEndedToo) {
  elided<tatas_lock> lock(counted_place);
  std::thread([&] { sections(lock, 7); }).join();
  EXPECT_EQ(since().attempts.commits, 7u);
}

/// Its block was another thread's, which counted many. Ends of threads go unnoticed in unmodified programs.
TEST_F(AttemptCounts, OfAThreadWithFewSectionsNoneIsMissing) {
  elided<tatas_lock> lock(counted_place);
  std::thread([&] { sections(lock, 10'000); }).join();
  std::thread([&] {
    sections(lock, 3);
    EXPECT_EQ(since().attempts.commits, 10'003u);
    sections(lock, 20);
    EXPECT_EQ(since().attempts.commits, 10'023u);
  }).join();
}

TEST_F(AttemptCounts, OfAThreadThatRunsSomeMayBeMissing) {
  elided<tatas_lock> lock(counted_place);
  std::atomic<bool> has_run{false};
  std::atomic<bool> may_end{false};
  std::thread other([&] {
    sections(lock, 1'000);
    has_run = true;
    while (!may_end) std::this_thread::yield();
  });
  while (!has_run) std::this_thread::yield();
  const std::uint64_t seen = since().attempts.commits;
  may_end = true;
  other.join();
  EXPECT_LE(seen, 1'000u);
  EXPECT_GT(seen, 1'000u - 1'000 / observe::min_counted_for_one_apart);
  EXPECT_EQ(since().attempts.commits, 1'000u);
}

TEST_F(AttemptCounts, TheTimeOfAbortedAttemptsIsEstimated) {
  elided<tatas_lock> lock(counted_place);
  script.on_begin_by_default(plan::aborts(conflict));
  sections(lock, 3'200);
  const observe::attempt_totals seen = since().attempts;
  EXPECT_NEAR(static_cast<double>(seen.lost_samples), 100, 30);
  EXPECT_GT(seen.lost_ns, 0u);
  const double error_ns = 32 * std::sqrt(static_cast<double>(seen.lost_variance));
  EXPECT_GT(error_ns, 0);
  EXPECT_LT(error_ns, static_cast<double>(seen.lost_ns));
}

TEST_F(AttemptCounts, TheTimeOfAttemptsThatAbortNowAndThenIsEstimated) {
  elided<tatas_lock> lock(counted_place);
  script.on_begins_in_turn({plan::commits(), plan::aborts(conflict), plan::commits()});
  script.clock_steps(100, 100);  // at steps of one an attempt may take no time
  sections(lock, 16'000);
  const observe::attempt_totals seen = since().attempts;
  EXPECT_EQ(seen.aborts[static_cast<std::size_t>(abort_cause::conflict)], 8'000u);
  EXPECT_NEAR(static_cast<double>(seen.lost_samples), 250, 40);
}

TEST_F(AttemptCounts, OfSitesInTurnEachHasItsOwn) {
  elided<tatas_lock> lock(counted_place);
  elided<tatas_lock> other(other_place);
  const observe::site_totals other_before = totals_of(other_place);
  for (unsigned i = 0; i < 10; ++i) {
    sections(lock, 1);
    sections(other, 2);
  }
  EXPECT_EQ(since().attempts.commits, 10u);
  EXPECT_EQ(observe::difference(totals_of(other_place), other_before).attempts.commits, 20u);
}

/// Whose blocks are its parent's, and are not to be counted in.
TEST_F(AttemptCounts, TheChildOfAForkCountsInABlockOfItsOwn) {
  elided<tatas_lock> lock(counted_place);
  sections(lock, 2);
  const pid_t child = fork();
  if (child == 0) {
    observe::forget_blocks();
    sections(lock, 3);
    _exit(static_cast<int>(totals_of(counted_place).attempts.commits));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(since().attempts.commits, 2u);
}

/// By then the block may be another thread's.
TEST_F(AttemptCounts, AThreadThatHasGivenUpItsBlockCountsNoMore) {
  std::thread([] {
    const auto count = [](void*) {
      static constexpr observe::commits_left one = {.get = []() noexcept { return std::uint32_t{1}; },
                                                    .set = [](std::uint32_t) noexcept {}};
      const observe::commits_left* const usual = observe::where_commits_are_left;
      observe::forget_attempt_counters();
      (void)observe::add_commits(counted_place, one);
      observe::my_commits.counters = nullptr;
      observe::where_commits_are_left = usual;
    };
    ASSERT_TRUE(machine::at_thread_exit(count, nullptr));  // the block is given up before: later calls run first
    for (int i = 0; i < 5; ++i) count(nullptr);
  }).join();
  EXPECT_EQ(since().attempts.commits, 5u);
}

TEST_F(AttemptCounts, ASiteMayBeLeftUncounted) {
  std::thread([&] {
    counted_place.set_policy(txsync::policy_word::counting_off);
    elided<tatas_lock> lock(counted_place);
    sections(lock, 1'000);
    EXPECT_EQ(since().attempts.attempts(), 0u);
    EXPECT_EQ(since().acquisitions, 0u);
    counted_place.set_policy(0);
    sections(lock, 10);
    EXPECT_EQ(since().attempts.commits, 10u) << "at once";
  }).join();
}

TEST_F(AttemptCounts, AThreadThatCountsSeesAtOnceThatItShouldNot) {
  elided<tatas_lock> lock(counted_place);
  sections(lock, 10);
  counted_place.set_policy(txsync::policy_word::counting_off);
  sections(lock, 1'000);
  EXPECT_EQ(since().attempts.commits, 10u);
  counted_place.set_policy(0);
  sections(lock, 1);
  EXPECT_EQ(since().attempts.commits, 11u);
}

TEST(WhatIsDoneNowAndThen, IsDoneAsOftenWhateverPartOfAttemptsCommits) {
  for (std::uint64_t step = 1; step <= 16; ++step) {
    unsigned timed = 0;
    for (std::uint64_t n = step; n <= 256'000 * step; n += step) {
      timed += observe::times_next(n) ? 1 : 0;
    }
    EXPECT_NEAR(timed, 256'000 / 32, 160) << "of every " << step << " attempts the last";
  }
}

TEST(WhatIsDoneNowAndThen, HasTheSameChanceAtEachSection) {
  constexpr unsigned draws = 200'000;
  constexpr std::uint32_t max = observe::max_commits_apart;
  unsigned reached[max + 2] = {};  // by distance: nothing before
  unsigned timed[max + 2] = {};
  for (std::uint64_t attempts = 1; attempts <= draws; ++attempts) {
    const observe::timing_draw drawn = observe::draw_timing(attempts, max);
    ASSERT_GE(drawn.sections, 1u);
    ASSERT_LE(drawn.sections, max);
    for (std::uint32_t i = 1; i <= drawn.sections; ++i) ++reached[i];
    timed[drawn.sections] += drawn.times_last ? 1 : 0;
  }
  for (unsigned i = 1; i <= 40; ++i)
    EXPECT_NEAR(static_cast<double>(timed[i]) / reached[i], 1.0 / 32, 0.0045) << "at distance " << i;
}

TEST(WhatIsDoneNowAndThen, ShortDrawsHaveTheChanceOfLongOnes) {
  for (const std::uint32_t max : {1u, 2u, 5u, 17u}) {
    std::uint64_t sections = 0;
    std::uint64_t timed = 0;
    for (std::uint64_t seed = 0; seed < 100'000; ++seed) {
      const observe::timing_draw drawn = observe::draw_timing(seed, max);
      sections += drawn.sections;
      timed += drawn.times_last ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(timed) / static_cast<double>(sections), 1.0 / 32, 0.0015) << max;
  }
}

TEST_F(AttemptCounts, WaitsOfLocksThatDoNotCountThemAreNotSaidToBeNone) {
  static constinit txsync::site bare{"attempt_counts.bare"};
  static constinit txsync::site own{"attempt_counts.own"};
  elided<tatas_lock> unwatched(bare);
  elided<txsync::mutex> watched(own);
  sections(unwatched, 1);
  EXPECT_TRUE(totals_of(bare).counts_waits()) << "an attempt waits for nobody";
  for (txsync::site* place : {&bare, &own}) place->set_policy(std::uint32_t{1} << 16);  // elision off
  sections(unwatched, 1'000);                                                           // some are sampled
  sections(watched, 1'000);
  const observe::site_totals of_bare = totals_of(bare);
  EXPECT_GE(of_bare.unwatched, 1u);
  EXPECT_EQ(of_bare.unwatched, of_bare.fallbacks());
  EXPECT_FALSE(of_bare.counts_waits());
  EXPECT_EQ(totals_of(own).unwatched, 0u);
  EXPECT_TRUE(totals_of(own).counts_waits());
}

}  // namespace
