// SPDX-License-Identifier: Apache-2.0
// What is counted of atomic blocks at their sites, on the scripted machine: attempts and transactions in software
// apart.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include <machine/scripted/script.hpp>
#include <txsync/tm.hpp>

#include "../observe/site_totals.hpp"

namespace {

namespace stm = txsync::tm;
namespace observe = txsync::observe;
using txsync::abort_cause;
using txsync::machine::attempt_status;
using txsync::script::machine_script;
using txsync::script::plan;

constexpr std::uint32_t conflict = attempt_status::conflict_bit | attempt_status::retry_bit;

constinit stm::block counted{"block_counts.counted", {.hardware_attempts = 3}};
constinit stm::block irrevocable{"block_counts.irrevocable", {.irrevocable = true}};

class BlockCounts : public testing::Test {
 protected:
  BlockCounts() {
    script.have_rtm();
    script.attempts_exclude_each_other();
    EXPECT_TRUE(stm::use_algorithm("htm_sgl_adaptive"));
    before = totals_of(counted.get_site());
  }
  ~BlockCounts() override { EXPECT_TRUE(stm::use_algorithm("dctl")); }

  observe::site_totals since() { return observe::difference(totals_of(counted.get_site()), before); }
  void blocks(unsigned count, stm::block& where = counted) {
    for (unsigned i = 0; i < count; ++i) {
      stm::atomically(where, [&](auto& tx) { tx.write(number, tx.read(number) + 1); });
    }
  }
  static std::uint64_t of(const std::uint64_t (&aborts)[txsync::abort_cause_count], abort_cause why) {
    return aborts[static_cast<std::size_t>(why)];
  }

  machine_script script;
  observe::site_totals before;
  stm::var<int> number{0};
};

TEST_F(BlockCounts, ABlockThatCommitsInHardwareIsNoTransactionInSoftware) {
  blocks(5);
  const observe::site_totals seen = since();
  EXPECT_EQ(seen.attempts.commits, 5u);
  EXPECT_EQ(seen.attempts.elided, 5u);
  EXPECT_EQ(seen.attempts.attempts(), 5u);
  EXPECT_EQ(seen.attempts.failed, 0u);
  EXPECT_EQ(seen.fallbacks(), 0u);
  EXPECT_TRUE(seen.transactions.is_empty());
}

TEST_F(BlockCounts, EachAbortOfAnAttemptHasItsCause) {
  const std::pair<std::uint32_t, abort_cause> ends[] = {{conflict, abort_cause::conflict},
                                                        {attempt_status::capacity_bit, abort_cause::capacity},
                                                        {attempt_status::syscall_bit, abort_cause::syscall},
                                                        {0, abort_cause::unknown}};
  for (const auto& [status, cause] : ends) {
    before = totals_of(counted.get_site());
    script.on_begin_by_default(plan::aborts(status));
    const std::uint64_t begins = script.counted().begins;
    blocks(1);
    const observe::site_totals seen = since();
    EXPECT_EQ(of(seen.attempts.aborts, cause), script.counted().begins - begins) << to_string(cause);
    EXPECT_EQ(seen.attempts.all_aborts(), of(seen.attempts.aborts, cause)) << to_string(cause);
    EXPECT_EQ(seen.attempts.commits, 0u) << to_string(cause);
    EXPECT_EQ(seen.attempts.failed, 1u) << to_string(cause);
    EXPECT_EQ(seen.transactions.commits, 1u) << to_string(cause);
    EXPECT_EQ(seen.transactions.all_aborts(), 0u) << to_string(cause);
  }
}

TEST_F(BlockCounts, CommitsAndFallbacksAreTheProgramsBlocks) {
  // Two aborts without the CPU's hint: a block that nearly always commits in hardware is tried once more after the first.
  script.on_begins_in_turn(
      {plan::commits(), plan::aborts(conflict), plan::commits(), plan::aborts(0), plan::aborts(0)});
  constexpr unsigned count = 1'000;
  std::thread other([&] { blocks(count); });
  other.join();
  blocks(count);
  const observe::site_totals seen = since();
  EXPECT_EQ(seen.attempts.commits + seen.fallbacks(), 2 * count);
  EXPECT_EQ(seen.fallbacks(), seen.attempts.failed);
  EXPECT_GT(seen.fallbacks(), 0u);
  EXPECT_EQ(seen.attempts.attempts(), script.counted().begins);
}

TEST_F(BlockCounts, WhatMakesNoAttemptsCountsNone) {
  const observe::site_totals alone_before = totals_of(irrevocable.get_site());
  blocks(3, irrevocable);
  const observe::site_totals alone = observe::difference(totals_of(irrevocable.get_site()), alone_before);
  EXPECT_EQ(alone.transactions.commits, 3u);
  EXPECT_EQ(alone.transactions.alone, 3u);
  EXPECT_EQ(alone.attempts.attempts(), 0u);
  EXPECT_TRUE(stm::use_algorithm("dctl"));
  blocks(4);
  EXPECT_EQ(since().transactions.commits, 4u);
  EXPECT_EQ(since().attempts.attempts(), 0u);
}

TEST_F(BlockCounts, AnExceptionIsAnAbortInSoftware) {
  EXPECT_TRUE(stm::use_algorithm("dctl"));
  EXPECT_THROW(stm::atomically(counted, [](auto&) { throw 1; }), int);
  const observe::site_totals seen = since();
  EXPECT_EQ(of(seen.transactions.aborts, abort_cause::user), 1u);
  EXPECT_EQ(seen.transactions.all_aborts(), 1u);
  EXPECT_EQ(seen.transactions.commits, 0u);
}

TEST_F(BlockCounts, TheTimeOfAbortedAttemptsIsEstimated) {
  script.on_begin_by_default(plan::aborts(conflict));
  blocks(3'200);
  const observe::attempt_totals seen = since().attempts;
  EXPECT_NEAR(static_cast<double>(seen.lost_samples), 100, 30);
  EXPECT_GT(seen.lost_ns, 0u);
  EXPECT_LT(32 * std::sqrt(static_cast<double>(seen.lost_variance)), static_cast<double>(seen.lost_ns));
}

TEST_F(BlockCounts, ASiteMayBeLeftUncounted) {
  counted.get_site().set_policy(txsync::policy_word::counting_off);
  std::thread([&] { blocks(10); }).join();  // a thread looks at the policy when it first runs the block
  counted.get_site().set_policy(0);
  EXPECT_EQ(since().attempts.attempts(), 0u);
  EXPECT_TRUE(since().transactions.is_empty());
}

TEST_F(BlockCounts, TotalsHaveBothTogether) {
  const stm::block_totals start = stm::totals(counted);
  script.on_begin({plan::commits(), plan::aborts(0)});
  blocks(2);
  const stm::block_totals seen = stm::totals(counted);
  EXPECT_EQ(seen.commits - start.commits, 2u);
  EXPECT_EQ(seen.hardware - start.hardware, 1u);
  EXPECT_EQ(of(seen.aborts, abort_cause::unknown) - of(start.aborts, abort_cause::unknown), 1u);
}

}  // namespace
