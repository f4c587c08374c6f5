// SPDX-License-Identifier: Apache-2.0
// A policy_mutex whose site asks for elision: its sections are attempts, whatever its algorithm, from when the site
// asks until it no longer does.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>

#include <machine/scripted/script.hpp>
#include <policy/packed.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/policy_mutex.hpp>

#include "../observe/site_totals.hpp"
#include "unlearnt.hpp"

namespace {

namespace machine = txsync::machine;
namespace policy = txsync::policy;
using txsync::policy_mutex;
using txsync::script::machine_script;
using txsync::script::plan;

constexpr std::uint32_t word_of(policy::lock_kind lock, policy::elision_kind elision) {
  return policy::packed{.lock = lock, .elision = elision}.word();
}

class PoliciesElide : public testing::TestWithParam<policy::lock_kind> {
 protected:
  PoliciesElide() { have_unlearnt_rtm(script); }
  ~PoliciesElide() override { place.set_policy(0); }

  void ask(policy::elision_kind elision) { place.set_policy(word_of(GetParam(), elision)); }
  static bool is_elided(policy_mutex& lock) {
    lock.lock();
    const bool active = machine::active();
    lock.unlock();
    return active;
  }

  machine_script script;
  static inline constinit txsync::site place{"policies_elide"};
};
constexpr policy::lock_kind algorithms[] = {policy::lock_kind::unset,         policy::lock_kind::mutex,
                                            policy::lock_kind::tatas,         policy::lock_kind::ticket,
                                            policy::lock_kind::fifo_ticket,   policy::lock_kind::spin,
                                            policy::lock_kind::priority_tatas};
INSTANTIATE_TEST_SUITE_P(EachAlgorithm, PoliciesElide, testing::ValuesIn(algorithms));

TEST_P(PoliciesElide, SectionsOfALockThatIsNew) {
  ask(policy::elision_kind::eager);
  policy_mutex lock(place);
  EXPECT_TRUE(is_elided(lock));
  script.on_begin(plan::aborts(0));
  lock.lock();
  EXPECT_FALSE(machine::active());
  EXPECT_TRUE(lock.is_held());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_FALSE(lock.is_held());
  EXPECT_TRUE(lock.try_lock());
  EXPECT_TRUE(machine::active());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock_until_ns(machine::clock_ns() + 1'000'000));
  EXPECT_TRUE(machine::active());
  lock.unlock();
  EXPECT_FALSE(machine::active());
}

TEST_P(PoliciesElide, NothingWhereNothingIsSaidOfIt) {
  for (const policy::elision_kind kind : {policy::elision_kind::unset, policy::elision_kind::off}) {
    ask(kind);
    policy_mutex lock(place);
    EXPECT_FALSE(is_elided(lock));
    EXPECT_FALSE(is_elided(lock));
  }
  EXPECT_EQ(script.counted().begins, 0u);
}

TEST_P(PoliciesElide, SectionsOfALockInUseFromWhenTheSiteAsks) {
  ask(policy::elision_kind::unset);
  policy_mutex lock(place);
  EXPECT_FALSE(is_elided(lock));
  ask(policy::elision_kind::eager);
  unsigned taken = 0;
  while (!is_elided(lock) && taken <= 512) ++taken;
  EXPECT_LE(taken, 512u);
  ask(policy::elision_kind::off);
  EXPECT_FALSE(is_elided(lock));
  ask(policy::elision_kind::eager);
  EXPECT_TRUE(is_elided(lock));
}

TEST_P(PoliciesElide, WhetherItTakesItsLock) {
  ask(policy::elision_kind::unset);
  policy_mutex lock(place);
  EXPECT_FALSE(is_elided(lock));
  EXPECT_TRUE(takes_lock(place)) << "nothing is said of elision, and no section has asked";
  ask(policy::elision_kind::eager);
  for (unsigned i = 0; i <= 512 && !is_elided(lock); ++i) {
  }
  EXPECT_FALSE(takes_lock(place));
  for (const policy::elision_kind ends : {policy::elision_kind::unset, policy::elision_kind::off}) {
    ask(ends);
    EXPECT_TRUE(takes_lock(place));
    EXPECT_FALSE(is_elided(lock));
    EXPECT_TRUE(takes_lock(place));
    ask(policy::elision_kind::eager);
    EXPECT_FALSE(takes_lock(place));
    EXPECT_TRUE(is_elided(lock));
  }
  script.begin_is(txsync::script::begin_nature::always_aborts);
  EXPECT_TRUE(takes_lock(place));
  EXPECT_FALSE(is_elided(lock));
}

TEST_P(PoliciesElide, AtASiteThatAsksInCode) {
  txsync::scoped_site own{txsync::elision_presets::eager};
  own.set_policy(word_of(GetParam(), policy::elision_kind::unset));
  policy_mutex lock(own);
  EXPECT_TRUE(is_elided(lock));
}

TEST_P(PoliciesElide, AndCount) {
  ask(policy::elision_kind::eager);
  policy_mutex lock(place);
  const txsync::observe::site_totals before = totals_of(place);
  constexpr unsigned sections = 4;
  for (unsigned i = 0; i < sections; ++i) EXPECT_TRUE(is_elided(lock));
  const txsync::observe::site_totals here = txsync::observe::difference(totals_of(place), before);
  EXPECT_EQ(here.attempts.commits, sections);
}

}  // namespace
