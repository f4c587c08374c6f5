// SPDX-License-Identifier: Apache-2.0
// Every branch of the decision whether to believe in hardware transactions.
#include <gtest/gtest.h>

#include <machine/scripted/script.hpp>
#include <txsync/machine/capability.hpp>

namespace {

namespace machine = txsync::machine;
using machine::htm_claim;
using machine::htm_obstacle;
using machine::htm_trial;
using txsync::script::begin_nature;
using txsync::script::machine_script;
using txsync::script::plan;

constexpr std::uint32_t rtm = 1u << 11;           // CPUID.7.0:EBX
constexpr std::uint32_t always_abort = 1u << 11;  // CPUID.7.0:EDX
constexpr unsigned tries = 20;

void expect_nothing(const machine::htm_capability& found) {
  EXPECT_FALSE(found.attempts || found.hle || found.suspend || found.rollback_only || found.always_abort);
  EXPECT_EQ(found.max_depth, 0u);
}

TEST(Capability, NoRtmBit) {
  machine_script script;
  script.begin_is(begin_nature::commits);  // works, but is not claimed: then it is not used
  const htm_trial trial = machine::try_htm(tries);
  EXPECT_EQ(trial.claim, htm_claim::absent);
  EXPECT_EQ(trial.obstacle, htm_obstacle::not_claimed);
  EXPECT_EQ(trial.tries, 0u);
  expect_nothing(trial.capability);
  expect_nothing(machine::htm());
}

TEST(Capability, NoCpuidOrAnOldOne) {
  machine_script script;
  script.forbid_cpuid();
  EXPECT_EQ(machine::try_htm(tries).obstacle, htm_obstacle::not_claimed);
}

TEST(Capability, RtmAlwaysAbortBit) {
  machine_script script;
  script.answer_cpuid(7, 0, {0, rtm, 0, always_abort});
  script.begin_is(begin_nature::commits);
  const htm_trial trial = machine::try_htm(tries);
  EXPECT_EQ(trial.claim, htm_claim::forced_abort);
  EXPECT_EQ(trial.obstacle, htm_obstacle::forced_abort);
  EXPECT_EQ(trial.tries, 0u);
  expect_nothing(machine::htm());
  script.answer_cpuid(7, 0, {0, 0, 0, always_abort});  // as kernels leave it: the RTM bit cleared too
  EXPECT_EQ(machine::try_htm(tries).obstacle, htm_obstacle::forced_abort);
}

TEST(Capability, ClaimedButAlwaysAborting) {
  machine_script script;
  script.claim_rtm();
  script.begin_is(begin_nature::always_aborts);
  const htm_trial trial = machine::try_htm(tries);
  EXPECT_EQ(trial.claim, htm_claim::present);
  EXPECT_EQ(trial.obstacle, htm_obstacle::never_commits);
  EXPECT_EQ(trial.tries, tries);
  EXPECT_EQ(trial.commits, 0u);
  EXPECT_EQ(trial.without_reason, tries);
  EXPECT_EQ(trial.last_abort.raw, 0u);
  expect_nothing(trial.capability);
  expect_nothing(machine::htm());
}

TEST(Capability, KillSwitch) {
  machine_script script;
  script.have_rtm();
  script.set_environment("TXSYNC_HTM", "off");
  const htm_trial trial = machine::try_htm(tries);
  EXPECT_EQ(trial.obstacle, htm_obstacle::kill_switch);
  EXPECT_EQ(trial.tries, 0u);
  expect_nothing(machine::htm());
  for (const char* const other : {"on", "", "banana"}) {
    script.set_environment("TXSYNC_HTM", other);
    EXPECT_TRUE(machine::htm().attempts) << "only \"off\" switches off";
  }
  script.set_environment("TXSYNC_HTM", std::nullopt);
  EXPECT_TRUE(machine::htm().attempts);
}

TEST(Capability, Works) {
  machine_script script;
  script.have_rtm();
  script.extras_are(true, false, false);
  const htm_trial trial = machine::try_htm(tries);
  EXPECT_EQ(trial.obstacle, htm_obstacle::none);
  EXPECT_EQ(trial.commits, tries);
  EXPECT_TRUE(trial.capability.attempts);
  EXPECT_TRUE(trial.capability.hle);
  EXPECT_TRUE(trial.capability.always_abort);
  EXPECT_EQ(trial.capability.max_depth, 7u);
  EXPECT_EQ(script.counted().begins, 0u) << "a trial uses no plans and is not counted";
}

TEST(Capability, TheTrialLeavesThePlansAlone) {
  machine_script script;
  script.have_rtm();
  script.on_begin(plan::aborts(1));
  EXPECT_EQ(machine::try_htm(tries).commits, tries);
  EXPECT_EQ(script.begins_left(), 1u);
}

TEST(Capability, NestingIsMeasured) {
  machine_script script;
  script.have_rtm();
  for (const unsigned deepest : {1u, 3u, 4u, 62u}) {
    script.nesting_is(deepest);
    EXPECT_EQ(machine::htm().max_depth, deepest);
    EXPECT_EQ(machine::htm().always_abort, deepest > 3) << "a warm attempt opens three more levels";
  }
}

TEST(Capability, OtherMachinesClaim) {
  machine_script script;
  script.begin_is(begin_nature::commits);
  script.claim_is(htm_claim::no_instructions);
  EXPECT_EQ(machine::try_htm(tries).obstacle, htm_obstacle::no_instructions);
  script.claim_is(htm_claim::present);
  EXPECT_EQ(machine::try_htm(tries).obstacle, htm_obstacle::none);
}

TEST(Capability, AScriptMayJustSay) {
  machine_script script;
  machine::htm_capability wish;
  wish.attempts = true;
  wish.max_depth = 2;
  script.htm_is(wish);
  EXPECT_EQ(machine::htm().max_depth, 2u);
}

TEST(Capability, TheUnclaimedInstruction) {
  machine_script script;
  EXPECT_TRUE(machine::try_unclaimed_htm(tries).illegal);
  script.begin_is(begin_nature::always_aborts);
  EXPECT_EQ(machine::try_unclaimed_htm(tries).without_reason, tries);
  script.begin_is(begin_nature::commits);
  EXPECT_EQ(machine::try_unclaimed_htm(tries).commits, tries);
}

}  // namespace
