// SPDX-License-Identifier: Apache-2.0
// A site leaves warm-up off if sections do more without it, and returns to it later. The cost of sections with and
// without it is made up, on a clock that the test moves (scripted machine).
#include <gtest/gtest.h>

#include <cstdint>

#include <machine/scripted/script.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/speculate/warming.hpp>

namespace {

using txsync::scoped_site;
using txsync::ticket_lock;
using txsync::warm_up_policy;
using txsync::warming;

constexpr std::uint64_t cheap = 200;  // cycles of a section
constexpr std::uint64_t dear = 300;
constexpr warm_up_policy adapting{.trial_cycles = 10'000};
constexpr warm_up_policy in_waits_only{.early = txsync::prefetch_before_lock::never, .trial_cycles = 10'000};
constexpr warm_up_policy steadfast{.adapts = false, .trial_cycles = 10'000};

class WarmTrials : public testing::Test {
 protected:
  WarmTrials() { script.clock_by_hand(1'000'000'000); }

  /// Runs so many sections, each of which takes what it costs with warm-up or without. How many ran without.
  unsigned without(warming<ticket_lock>& lock, unsigned sections, std::uint64_t warm, std::uint64_t cold) {
    unsigned ran_without = 0;
    for (unsigned i = 0; i < sections; ++i) {
      lock.lock();
      const bool off = warm_up_is_off(lock.get_site());
      script.advance(off ? cold : warm);
      lock.unlock();
      if (off) ++ran_without;
    }
    return ran_without;
  }

  /// The same with a closure. How many ran it before the lock was asked for.
  unsigned early(warming<ticket_lock>& lock, unsigned sections, std::uint64_t before, std::uint64_t not_before) {
    unsigned ran_early = 0;
    for (unsigned i = 0; i < sections; ++i) {
      bool warmed = false;
      lock.lock([&](txsync::warm_memory&) { warmed = true; });
      script.advance(warmed ? before : not_before);
      lock.unlock();
      if (warmed) ++ran_early;
    }
    return ran_early;
  }

  txsync::script::machine_script script;
};

constexpr unsigned many = 50'000;

TEST_F(WarmTrials, TurnWarmUpOffWhereItHurts) {
  scoped_site place(adapting);
  warming<ticket_lock> lock(place);
  EXPECT_FALSE(warm_up_is_off(place)) << "before anything is known";
  EXPECT_GT(without(lock, many, dear, cheap), many * 8 / 10);
  EXPECT_TRUE(warm_up_is_off(place));
}

TEST_F(WarmTrials, KeepItWhereItPays) {
  scoped_site place(adapting);
  warming<ticket_lock> lock(place);
  EXPECT_LT(without(lock, many, cheap, dear), many * 2 / 10);
  EXPECT_FALSE(warm_up_is_off(place));
}

TEST_F(WarmTrials, TurnItOnAgainWhenItPaysAgainAndOffAgainWhenNot) {
  scoped_site place(adapting);
  warming<ticket_lock> lock(place);
  (void)without(lock, many, dear, cheap);
  ASSERT_TRUE(warm_up_is_off(place));
  (void)without(lock, 10 * many, cheap, dear);  // trials whose answer was the same come seldom
  EXPECT_FALSE(warm_up_is_off(place));
  EXPECT_LT(without(lock, many, cheap, dear), many * 2 / 10);
  (void)without(lock, 10 * many, dear, cheap);
  EXPECT_GT(without(lock, many, dear, cheap), many * 8 / 10);
}

TEST_F(WarmTrials, ClosuresAreRunBeforeTheLockWhereThatPays) {
  scoped_site place(adapting);
  warming<ticket_lock> lock(place);
  EXPECT_FALSE(warm_up_is_early(place)) << "before anything is known";
  EXPECT_GT(early(lock, many, cheap, dear), many * 8 / 10);
  EXPECT_TRUE(warm_up_is_early(place));
  EXPECT_FALSE(warm_up_is_off(place));
}

TEST_F(WarmTrials, ClosuresWaitForAWaitWhereThatDoesAsMuch) {
  scoped_site place(adapting);
  warming<ticket_lock> lock(place);
  const unsigned ran_early = early(lock, many, dear, dear);
  EXPECT_GT(ran_early, 0u) << "not tried";
  EXPECT_LT(ran_early, many * 2 / 10);
  EXPECT_FALSE(warm_up_is_early(place));
}

TEST_F(WarmTrials, ClosuresAreRunBeforeTheLockAsLongAsThatPays) {
  scoped_site place(adapting);
  warming<ticket_lock> lock(place);
  (void)early(lock, many, cheap, dear);
  ASSERT_TRUE(warm_up_is_early(place));
  (void)early(lock, 10 * many, dear, cheap);  // trials whose answer was the same come seldom
  EXPECT_FALSE(warm_up_is_early(place));
  (void)early(lock, 10 * many, cheap, dear);
  EXPECT_TRUE(warm_up_is_early(place));
}

TEST_F(WarmTrials, NothingIsRunBeforeTheLockWithoutAClosureOrThePolicysLeave) {
  scoped_site place(adapting), other(in_waits_only);
  warming<ticket_lock> lock(place), never(other);
  for (unsigned i = 0; i < many; ++i) {
    lock.lock();
    ASSERT_FALSE(warm_up_is_early(place)) << i;
    script.advance(cheap);
    lock.unlock();
  }
  EXPECT_EQ(early(never, many, cheap, dear), 0u);
}

TEST_F(WarmTrials, WhatWasEarlyIsGivenUpWhenNoClosureComesAnyMore) {
  scoped_site place(adapting);
  warming<ticket_lock> lock(place);
  (void)early(lock, many, cheap, dear);
  ASSERT_TRUE(warm_up_is_early(place));
  (void)without(lock, 10 * many, dear, cheap);
  EXPECT_FALSE(warm_up_is_early(place));
  EXPECT_GT(without(lock, many, dear, cheap), many * 8 / 10);
}

TEST_F(WarmTrials, SectionsWithoutAClosureDoNotKeepOthersFromBeingEarly) {
  scoped_site place(adapting);
  warming<ticket_lock> lock(place);
  for (unsigned i = 0; i < many; ++i) {
    (void)early(lock, 1, cheap, dear);
    (void)without(lock, 1, dear, dear);
  }
  EXPECT_TRUE(warm_up_is_early(place));
}

TEST_F(WarmTrials, WhatWasEarlyIsComparedWithTheBetterOfBothOthers) {
  scoped_site place(adapting);
  warming<ticket_lock> lock(place);
  // Waits that warm up are best but for what is early; then both are worse than nothing.
  const auto run = [&](unsigned sections, std::uint64_t before, std::uint64_t in_waits, std::uint64_t nothing) {
    for (unsigned i = 0; i < sections; ++i) {
      bool warmed = false;
      lock.lock([&](txsync::warm_memory&) { warmed = true; });
      script.advance(warmed ? before : warm_up_is_off(place) ? nothing : in_waits);
      lock.unlock();
    }
  };
  run(many, 100, 200, 300);
  ASSERT_TRUE(warm_up_is_early(place));
  run(20 * many, 250, 300, 200);
  EXPECT_TRUE(warm_up_is_off(place));
}

/// Sections from one look to the next, with sections of such a length and the standard policy's window.
unsigned between_looks(txsync::script::machine_script& script, std::uint64_t length) {
  constexpr std::uint64_t window = txsync::warm_up_presets::standard.trial_cycles;
  txsync::detail::trial_sampler mine;
  txsync::detail::count_down countdown;
  txsync::detail::ab_trial trial;
  unsigned looks = 0;
  const auto run = [&](unsigned sections) {
    for (unsigned i = 0; i < sections; ++i) {
      script.advance(length);
      if (!mine.count(countdown, &trial)) continue;
      ++looks;
      (void)mine.look(countdown, &trial, trial, window);
    }
  };
  run(20);
  EXPECT_TRUE(trial.in_trial());
  while (trial.in_trial()) run(1);
  run(1'000);
  looks = 0;
  run(10'000);
  EXPECT_FALSE(trial.in_trial()) << "the next one came too soon";
  return 10'000 / looks;
}

TEST_F(WarmTrials, ShortSectionsAreLookedAtLessOften) {
  EXPECT_LE(between_looks(script, 20'000), 20u);
  EXPECT_LE(between_looks(script, 5'000), 80u);
  EXPECT_GT(between_looks(script, 5'000), 40u);
  EXPECT_GT(between_looks(script, 100), 200u);
}

TEST_F(WarmTrials, SitesLearnForThemselves) {
  scoped_site hurt(adapting), helped(adapting);
  warming<ticket_lock> one(hurt), other(helped);
  for (int i = 0; i < 50; ++i) {
    (void)without(one, 1'000, dear, cheap);
    (void)without(other, 1'000, cheap, dear);
  }
  EXPECT_TRUE(warm_up_is_off(hurt));
  EXPECT_FALSE(warm_up_is_off(helped));
}

TEST_F(WarmTrials, APolicyThatDoesNotAdaptTriesNothing) {
  scoped_site place(steadfast);
  warming<ticket_lock> lock(place);
  EXPECT_EQ(without(lock, many, dear, cheap), 0u);
}

}  // namespace
