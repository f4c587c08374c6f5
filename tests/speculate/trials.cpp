// SPDX-License-Identifier: Apache-2.0
// A/B trials, by made-up reports: what ends one, what a pause does to it, and whose sections a thread reports.
#include <gtest/gtest.h>

#include <cstdint>

#include <txsync/speculate/ab_trial.hpp>

namespace {

using txsync::detail::ab_trial;
using txsync::detail::count_down;
using txsync::detail::trial_sampler;

constexpr std::uint64_t window = 10'000;
constexpr std::uint64_t each = 1'250;                     // cycles from one report to the next
constexpr std::uint64_t no_end = std::uint64_t{1} << 40;  // of a window
constexpr std::uint64_t none = ab_trial::no_length;
constexpr int a_lock = 0;
constexpr int another_lock = 0;

/// One thread's reports to a trial. The clock starts where the counter of a machine that has run for a while stands.
class reporter {
 public:
  void report(std::uint64_t sections, std::uint64_t length, const void* lock) {
    const std::uint64_t since = now_;
    now_ += each;
    (void)trial.look({sections, since, now_, length, lock}, window);
  }
  /// True as soon as sections run in the second mode.
  bool reaches_second(int reports, std::uint64_t sections, std::uint64_t length, const void* one, const void* other) {
    for (int i = 0; i < reports && !trial.second(); ++i) report(sections, length, i % 2 == 0 ? one : other);
    return trial.second();
  }
  void pause(std::uint64_t cycles) { now_ += cycles; }
  std::uint64_t now() const { return now_; }

  ab_trial trial;

 private:
  std::uint64_t now_ = 1'000'000'000;
};

TEST(Trials, NoLockCanDoAsMuchAsSectionsThatOverlap) {
  reporter told;
  EXPECT_FALSE(told.reaches_second(100, 100, 50, &a_lock, &a_lock));  // 100 sections of 50 cycles in 1,250
}

TEST(Trials, UnderSeveralLocksSectionsOverlapAnyway) {
  reporter told;
  EXPECT_TRUE(told.reaches_second(100, 100, 50, &a_lock, &another_lock));
}

TEST(Trials, APauseInTheSecondWayIsNotHeldAgainstIt) {
  reporter told;
  ASSERT_TRUE(told.reaches_second(100, 100, none, nullptr, nullptr));
  for (int i = 0; i < 12; ++i) told.report(100, none, nullptr);  // the first of its windows is over
  told.pause(1'000 * window);
  for (int i = 0; i < 60; ++i) told.report(100, none, nullptr);
  EXPECT_TRUE(told.trial.second());  // a tie
}

TEST(Trials, APauseInATrialDoesNotPutOffTheNextOne) {
  reporter told;
  ASSERT_TRUE(told.reaches_second(100, 100, none, nullptr, nullptr));
  told.pause(1'000'000 * window);
  for (int i = 0; i < 100; ++i) told.report(100, none, nullptr);
  ASSERT_TRUE(told.trial.second());
  const std::uint64_t began = told.now();
  while (told.trial.second() && told.now() - began < 1'000'000 * window) told.report(100, none, nullptr);
  EXPECT_FALSE(told.trial.second());  // the first mode is tried again
  EXPECT_LT(told.now() - began, 10'000 * window);
}

TEST(Trials, SectionsSoLongThatTheyAreLikePausesAreComparedAllTheSame) {
  reporter told;
  for (int i = 0; i < 40 && !told.trial.second(); ++i) {
    told.pause(100 * window);
    told.report(1, none, nullptr);
  }
  EXPECT_TRUE(told.trial.second());
}

// ---- whose sections

struct alignas(txsync::machine::pad_bytes) role {
  ab_trial trial;
};

TEST(Turns, AreCountedForEachRoleApart) {
  trial_sampler mine;
  count_down countdown;
  role one, other;
  unsigned looks_of_one = 0, looks_of_other = 0;
  for (int i = 0; i < 1'600; ++i) {
    if (mine.count(countdown, &one)) {
      ++looks_of_one;
      (void)mine.look(countdown, &one, one.trial, no_end);
    }
    if (i % 4 == 0 && mine.count(countdown, &other)) {
      ++looks_of_other;
      (void)mine.look(countdown, &other, other.trial, no_end);
    }
  }
  EXPECT_GE(looks_of_one, 90u);
  EXPECT_GE(looks_of_other, 20u);
}

TEST(Turns, NoRoleIsLeftOutForEver) {
  // More than there are slots.
  constexpr unsigned roles = 20;
  static role all[roles];
  trial_sampler mine;
  count_down countdown;
  unsigned looks[roles] = {};
  for (int i = 0; i < 200'000; ++i) {
    role& one = all[static_cast<unsigned>(i) % roles];
    if (!mine.count(countdown, &one)) continue;
    ++looks[static_cast<unsigned>(i) % roles];
    (void)mine.look(countdown, &one, one.trial, no_end);
  }
  for (const unsigned some : looks) EXPECT_GT(some, 0u);
}

TEST(Turns, ARoleThatIsGoneMakesRoom) {
  static role all[64];
  trial_sampler mine;
  count_down countdown;
  for (role& one : all) {
    for (int i = 0; i < 100; ++i) {
      if (mine.count(countdown, &one)) (void)mine.look(countdown, &one, one.trial, no_end);  // each slot is taken
    }
  }
  role late;
  unsigned looks = 0;
  for (int i = 0; i < 1'000; ++i) {
    if (!mine.count(countdown, &late)) continue;
    ++looks;
    (void)mine.look(countdown, &late, late.trial, no_end);
  }
  EXPECT_GT(looks, 30u);
}

}  // namespace
