// SPDX-License-Identifier: Apache-2.0
// How often a block is tried in hardware, cause by cause, on the scripted machine. Tested are htm_sgl as the baseline
// of the hybrid paper (section V), and htm_sgl_adaptive.
#include <gtest/gtest.h>

#include <atomic>

#include <machine/scripted/script.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/tm.hpp>

namespace {

namespace stm = txsync::tm;
using txsync::machine::attempt_status;
using txsync::script::machine_script;
using txsync::script::plan;

constexpr std::uint32_t retry = attempt_status::retry_bit;
constexpr std::uint32_t conflict = attempt_status::conflict_bit | retry;
constexpr std::uint32_t capacity = attempt_status::capacity_bit;
constexpr std::uint32_t found_held = attempt_status::explicit_bit | std::uint32_t{attempt_status::code_lock_busy} << 24;

constinit stm::block counting{"test.tries.counting"};
constinit stm::block mostly{"test.tries.mostly"};
constinit stm::block never{"test.tries.never", {.hardware_attempts = 0}};

class HardwareTries : public testing::Test {
 protected:
  HardwareTries() { script.have_rtm(); }
  ~HardwareTries() override { EXPECT_TRUE(stm::use_algorithm("dctl")); }

  /// Runs a block.
  std::uint64_t begins(stm::block& block = counting) {
    const std::uint64_t before = script.counted().begins;
    stm::atomically(block, [this](auto& tx) { tx.write(sum, tx.read(sum) + 1); });
    return script.counted().begins - before;
  }
  /// Of a block whose every attempt ends by `status`; it then runs under the lock.
  std::uint64_t begins_where_all_end_by(std::uint32_t status, const char* algorithm) {
    EXPECT_TRUE(stm::use_algorithm(algorithm));
    script.on_begin_by_default(plan::aborts(status));
    const std::uint64_t in_hardware = stm::totals(counting).hardware;
    const std::uint64_t all = begins();
    EXPECT_EQ(stm::totals(counting).hardware, in_hardware);
    script.on_begin_by_default(plan::commits());
    return all;
  }

  machine_script script;
  stm::var<long> sum{0};
};

TEST_F(HardwareTries, TheBaselineTriesTenTimesWhateverTheCause) {
  for (const std::uint32_t status : {conflict, retry, capacity, std::uint32_t{0}, found_held}) {
    EXPECT_EQ(begins_where_all_end_by(status, "htm_sgl"), 10u) << status;
  }
}

TEST_F(HardwareTries, TheBaselineCountsAllCausesTogether) {
  ASSERT_TRUE(stm::use_algorithm("htm_sgl"));
  for (int i = 0; i < 3; ++i) {
    script.on_begin({plan::aborts(conflict), plan::aborts(capacity), plan::aborts(found_held)});
  }
  EXPECT_EQ(begins(), 10u) << "the tenth commits";
  const std::uint64_t in_hardware = stm::totals(counting).hardware;
  for (int i = 0; i < 5; ++i) script.on_begin({plan::aborts(capacity), plan::aborts(found_held)});
  EXPECT_EQ(begins(), 10u);
  EXPECT_EQ(stm::totals(counting).hardware, in_hardware) << "took the lock";
}

TEST_F(HardwareTries, TheAdaptiveOneAsksForTheCause) {
  EXPECT_EQ(begins_where_all_end_by(conflict, "htm_sgl_adaptive"), 5u);
  EXPECT_EQ(begins_where_all_end_by(retry, "htm_sgl_adaptive"), 5u);
  EXPECT_EQ(begins_where_all_end_by(capacity, "htm_sgl_adaptive"), 1u);
  EXPECT_EQ(begins_where_all_end_by(0, "htm_sgl_adaptive"), 1u);
  EXPECT_EQ(begins_where_all_end_by(found_held, "htm_sgl_adaptive"), 64u);
}

TEST_F(HardwareTries, TheAdaptiveOneTriesOnceMoreWhereBlocksNearlyAlwaysCommit) {
  ASSERT_TRUE(stm::use_algorithm("htm_sgl_adaptive"));
  const auto begins_without_hope = [&] {
    script.on_begin_by_default(plan::aborts(capacity));
    const std::uint64_t all = begins(mostly);
    script.on_begin_by_default(plan::commits());
    return all;
  };
  EXPECT_EQ(begins_without_hope(), 1u);
  for (int i = 0; i < 20; ++i) begins(mostly);
  EXPECT_EQ(begins_without_hope(), 2u) << "20 have committed for one that has not";
  EXPECT_EQ(begins_without_hope(), 2u);
  EXPECT_EQ(begins_without_hope(), 1u) << "20 have committed for three that have not";
}

TEST_F(HardwareTries, ABlockMayAskForNone) {
  for (const char* const algorithm : {"htm_sgl", "htm_sgl_adaptive"}) {
    ASSERT_TRUE(stm::use_algorithm(algorithm));
    EXPECT_EQ(begins(never), 0u);
  }
}

}  // namespace
