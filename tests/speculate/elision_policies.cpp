// SPDX-License-Identifier: Apache-2.0
// Policies, cause by cause, on the scripted machine: what is tried again, what is waited for, what is learnt.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include <locks/backoff.hpp>
#include <machine/scripted/script.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/speculate/elided.hpp>

#include "held_lock.hpp"
#include "unlearnt.hpp"

namespace {

namespace machine = txsync::machine;
namespace presets = txsync::elision_presets;
using machine::attempt_status;
using txsync::adaptation;
using txsync::elided;
using txsync::elision_policy;
using txsync::scoped_site;
using txsync::tatas_lock;
using txsync::when_busy;
using txsync::script::machine_script;
using txsync::script::plan;

constexpr std::uint32_t retry = attempt_status::retry_bit;
constexpr std::uint32_t conflict = attempt_status::conflict_bit | retry;
constexpr std::uint32_t capacity = attempt_status::capacity_bit;

class ElisionPolicies : public testing::Test {
 protected:
  ElisionPolicies() { have_unlearnt_rtm(script); }

  /// A section of a lock with that policy: attempts that it took.
  std::uint64_t section(elided<tatas_lock>& lock) {
    const std::uint64_t before = script.counted().begins;
    lock.lock();
    was_elided = machine::active();
    lock.unlock();
    return script.counted().begins - before;
  }
  /// The same where every attempt ends by `status`, with a lock of its own.
  std::uint64_t attempts_of(const elision_policy& policy, std::uint32_t status) {
    scoped_site place(policy);
    const auto lock = std::make_unique<elided<tatas_lock>>(place);
    txsync::detail::forget_experience();  // of the last call's, which may have had this address
    script.on_begin_by_default(plan::aborts(status));
    const std::uint64_t all = section(*lock);
    EXPECT_FALSE(was_elided);
    script.on_begin_by_default(plan::commits());
    return all;
  }

  machine_script script;
  bool was_elided = false;
};

constexpr elision_policy three{.attempts = 3, .adapts = adaptation::none};

TEST_F(ElisionPolicies, BackOffFollowsTheSeed) {
  script.clock_by_hand(1'000);
  const auto drawn = [this](std::uint64_t seed) {
    script.seed_is(seed);
    txsync::detail::jitter random(this);
    return std::vector{random.upto(1 << 20), random.upto(1 << 20)};
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

TEST_F(ElisionPolicies, ConflictsAreTriedAgainWithBackoff) {
  EXPECT_EQ(attempts_of(three, conflict), 3u);
  EXPECT_GT(script.counted().relaxes, 0u);
}

TEST_F(ElisionPolicies, TheHintIsFollowed) {
  EXPECT_EQ(attempts_of(three, retry), 3u);
  EXPECT_EQ(attempts_of(three, capacity | retry), 3u);
}

TEST_F(ElisionPolicies, CapacityAndNoHintFallBack) {
  EXPECT_EQ(attempts_of(three, capacity), 1u);
  EXPECT_EQ(attempts_of(three, attempt_status::capacity_write_bit), 1u);
  EXPECT_EQ(attempts_of(three, 0), 1u);
  EXPECT_EQ(attempts_of(three, attempt_status::fault_bit), 1u);
  EXPECT_EQ(attempts_of(three, attempt_status::syscall_bit), 1u);
  EXPECT_EQ(attempts_of(three, attempt_status::unfriendly_bit), 1u);
  EXPECT_EQ(attempts_of(three, attempt_status::explicit_bit | 7u << 24), 1u);
}

TEST_F(ElisionPolicies, TriesWithoutHintAreALimitOfTheirOwn) {
  elision_policy patient = three;
  patient.attempts = 10;
  patient.tries_without_hint = 2;
  EXPECT_EQ(attempts_of(patient, 0), 3u);
}

TEST_F(ElisionPolicies, NoAttemptsAtAll) {
  constexpr elision_policy never{.attempts = 0};
  scoped_site place(never);
  elided<tatas_lock> lock(place);
  EXPECT_EQ(section(lock), 0u);
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(machine::active());
  lock.unlock();
}

// ---- a lock that is held

TEST_F(ElisionPolicies, AHeldLockIsWaitedForAndDoesNotCount) {
  constexpr elision_policy once{.attempts = 1, .busy_limit = 0, .max_wait = 0, .adapts = adaptation::none};
  const auto held = std::make_unique<held_lock>(script, once, 1);
  held->lock.lock();
  EXPECT_TRUE(machine::active());
  held->lock.unlock();
}

TEST_F(ElisionPolicies, AHeldLockUsesUpAttemptsWhereItCounts) {
  const auto held = std::make_unique<held_lock>(script, presets::lemming, 5);
  held->lock.lock();
  EXPECT_FALSE(machine::active());
  held->lock.unlock();
}

TEST_F(ElisionPolicies, AConflictWithWhoTakesTheLockDoesNotCount) {
  constexpr elision_policy once{.attempts = 1, .max_wait = 0, .adapts = adaptation::none};
  const auto held = std::make_unique<held_lock>(script, once, 1);
  script.on_begin(plan::aborts(conflict));
  held->lock.lock();
  EXPECT_TRUE(machine::active());
  held->lock.unlock();
}

/// Held by others, who are never seen to let it go, until somebody queues up for it.
struct lock_in_use {
  std::atomic<bool> held{true};
  std::uint64_t queued_at = 0;

  void lock() noexcept { queued_at = machine::cycles(); }
  bool try_lock() noexcept { return false; }
  void unlock() noexcept { held.store(true); }
  bool is_held() const noexcept { return held.load(); }
};

TEST_F(ElisionPolicies, ALockThatIsNeverSeenFreeIsTakenInLine) {
  constexpr elision_policy patient{.busy_limit = 0, .max_wait = 10'000, .adapts = adaptation::none};
  scoped_site place(patient);
  struct watched : elided<lock_in_use> {
    using elided<lock_in_use>::elided;
    lock_in_use& inner() { return this->lock_; }
  } lock(place);
  // Longer each time, up to 16 times as long.
  for (const unsigned factor : {1, 2, 4, 8, 16, 16}) {
    const std::uint64_t start = machine::cycles();
    lock.lock();
    EXPECT_FALSE(machine::active());
    EXPECT_GE(lock.inner().queued_at - start, patient.max_wait * factor);
    lock.unlock();
  }
}

// ---- what is learnt

TEST_F(ElisionPolicies, FailuresInARowAreTriedEverMoreSeldom) {
  scoped_site place(presets::libomp);
  elided<tatas_lock> lock(place);
  script.on_begin_by_default(plan::aborts(capacity));
  std::uint64_t attempts = 0;
  for (int i = 0; i < 1000; ++i) attempts += section(lock);
  EXPECT_LE(attempts, 11u);
  attempts = 0;
  for (int i = 0; i < 10'240; ++i) attempts += section(lock);
  EXPECT_EQ(attempts, 10u);
  script.on_begin_by_default(plan::commits());
  for (int i = 0; i < 1024; ++i) (void)section(lock);
  EXPECT_EQ(section(lock), 1u);  // one success, and all is forgotten
}

TEST_F(ElisionPolicies, TriesFailByTheCauseToo) {
  scoped_site place;
  elided<tatas_lock> lock(place);
  const auto tries = [&](unsigned sections) {
    const std::uint64_t before = script.counted().begins;
    for (unsigned i = 0; i < sections; ++i) {
      EXPECT_TRUE(lock.try_lock());
      lock.unlock();
    }
    return script.counted().begins - before;
  };
  // A conflict says nothing of the section: all the next ones are tried.
  script.on_begin_by_default(plan::aborts(conflict));
  EXPECT_EQ(tries(1'000), 1'000u);
  script.on_begin_by_default(plan::aborts(retry));
  EXPECT_EQ(tries(1'000), 1'000u);
  script.on_begin_by_default(plan::aborts(capacity));
  EXPECT_LT(tries(1'000), 100u);
}

TEST_F(ElisionPolicies, TheStandardCostsNothingWhereNothingEverCommits) {
  scoped_site place;
  elided<tatas_lock> lock(place);
  script.on_begin_by_default(plan::aborts(0));
  for (int i = 0; i < 1000; ++i) (void)section(lock);
  std::uint64_t attempts = 0;
  for (int i = 0; i < 10'000; ++i) attempts += section(lock);
  EXPECT_LE(attempts, 10u);
}

// ---- trials

TEST_F(ElisionPolicies, ATrialKeepsTheFasterWay) {
  constexpr elision_policy quick{.trial_cycles = 2'000};
  scoped_site place(quick);
  elided<tatas_lock> lock(place);
  // Sections take 10 ticks of the clock, and attempts 100 more.
  script.clock_by_hand(1'000'000);
  const auto run = [&](unsigned sections, std::uint64_t attempt_costs) {
    unsigned elided = 0;
    for (unsigned i = 0; i < sections; ++i) {
      lock.lock();
      const bool inside = machine::active();
      elided += inside ? 1 : 0;
      script.advance(10 + (inside ? attempt_costs : 0));
      lock.unlock();
    }
    return elided;
  };
  (void)run(1'000, 100);
  EXPECT_TRUE(takes_lock(place));
  EXPECT_LT(run(10'000, 100), 2'000u);  // looks again, seldom
  // What elision costs has changed: less than nothing, as where others run beside.
  std::uint64_t sections = 0;
  for (; sections < 1'000'000 && (takes_lock(place) || sections < 100'000); sections += 1'000) {
    for (unsigned i = 0; i < 1'000; ++i) {
      lock.lock();
      script.advance(machine::active() ? 2 : 10);
      lock.unlock();
    }
  }
  EXPECT_FALSE(takes_lock(place));
}

// ---- coarsening

constexpr elision_policy coarse{.max_backoff = 0, .adapts = adaptation::none, .max_sections = 8, .coarsens_after = 2};

TEST_F(ElisionPolicies, CommitsInARowMakeAttemptsLarger) {
  scoped_site place(coarse);
  elided<tatas_lock> lock(place);
  for (int i = 0; i < 200; ++i) (void)section(lock);
  const std::uint64_t before = script.counted().begins;
  for (int i = 0; i < 80; ++i) (void)section(lock);
  EXPECT_EQ(script.counted().begins - before, 10u);
  txsync::commit_coarsened();
  EXPECT_FALSE(machine::active());
}

TEST_F(ElisionPolicies, ConflictsEndCoarseningAndCapacityHalvesIt) {
  scoped_site place(coarse);
  elided<tatas_lock> lock(place);
  for (int i = 0; i < 200; ++i) (void)section(lock);
  txsync::commit_coarsened();
  script.on_begin(plan::aborts(capacity));
  std::uint64_t before = script.counted().commits;
  for (int i = 0; i < 4; ++i) (void)section(lock);
  EXPECT_EQ(script.counted().commits - before, 1u);
  script.on_begin(plan::aborts(conflict));
  before = script.counted().commits;
  (void)section(lock);
  (void)section(lock);
  EXPECT_EQ(script.counted().commits - before, 2u);
}

TEST_F(ElisionPolicies, ActionsEndACoarsenedAttempt) {
  scoped_site place(coarse);
  elided<tatas_lock> lock(place);
  for (int i = 0; i < 200 || !machine::active(); ++i) (void)section(lock);  // until one goes on behind its section
  static bool ran;
  ran = false;
  txsync::on_commit([]() noexcept { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_FALSE(machine::active());
}

}  // namespace
