// SPDX-License-Identifier: Apache-2.0
// Machines as programs find them: what attempts can hold and why they end, by machine_facts.cpp.
#include <gtest/gtest.h>

#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"

namespace {

using namespace txsync::sim;

constexpr std::uint64_t conflict_and_retry = 6;

image_request request_for(const std::string& machine) {
  image_request request;
  request.path = TXSYNC_FACTS_IMAGE;
  request.model = read_machine(std::string(TXSYNC_SHIPPED_MACHINES) + "/" + machine + ".toml").model;
  request.arguments = {std::to_string(request.model.l1_line)};
  return request;
}

image_result facts_of(const image_request& request) {
  const image_result seen = run_image(request);
  EXPECT_EQ(seen.status, 0) << seen.messages;
  EXPECT_EQ(seen.number("program.attempts"), 1u);
  EXPECT_EQ(seen.number("program.abort_takes_back"), 1u);
  EXPECT_EQ(seen.number("program.exit_calls"), 1u);
  EXPECT_EQ(seen.number("program.ended_objects"), 1u);
  EXPECT_EQ(seen.number("program.foreign_store"), conflict_and_retry);
  EXPECT_EQ(seen.number("program.after_a_lost_conflict"), 1u);
  return seen;
}

image_result facts_of(const std::string& machine) { return facts_of(request_for(machine)); }

TEST(SimulatedMachines, HaswellHoldsWrittenLinesInItsFirstLevelCache) {
  image_request request = request_for("haswell-i5-4670t");
  request.model.htm_taken_ways = 0;  // the geometry alone; the soft edge is below
  const image_result seen = facts_of(request);
  // 32 KiB of 64 sets x 8 ways; thesis Fig 3.5: stride 2 halves, stride 4 quarters, odd strides are as stride 1.
  EXPECT_EQ(seen.number("program.stride_1"), 512u);
  EXPECT_EQ(seen.number("program.stride_2"), 256u);
  EXPECT_EQ(seen.number("program.stride_3"), 512u);
  EXPECT_EQ(seen.number("program.stride_4"), 128u);
  EXPECT_EQ(seen.number("program.nesting"), 7u);  // thesis Fig 3.8
}

TEST(SimulatedMachines, AWriteTakesALineOverInOneTransfer) {
  const image_request request = request_for("haswell-i5-4670t");
  const image_result seen = facts_of(request);
  EXPECT_GE(seen.number("program.read_from_other_core"), request.model.memory_dirty_core);
  EXPECT_EQ(seen.number("program.write_from_other_core"), seen.number("program.read_from_other_core"));
}

TEST(SimulatedMachines, OthersTakeWaysOfTheCacheMeanwhile) {
  const image_result seen = facts_of("haswell-i5-4670t");
  // Thesis Fig 3.1: half of the attempts commit at 23 KB, none at 32; the best of four tries is a little above that.
  EXPECT_GT(seen.number("program.stride_1"), 320u);
  EXPECT_LT(seen.number("program.stride_1"), 480u);
}

TEST(SimulatedMachines, ElisionAndAttemptsDoNotNestInEachOther) {
  const image_result seen = facts_of("haswell-i5-4670t");
  EXPECT_EQ(seen.number("program.prefix_in_attempt"), 0u);
  EXPECT_EQ(seen.number("program.attempt_under_prefix"), 0u);
  EXPECT_EQ(seen.number("program.pause"), 0u);
  EXPECT_EQ(seen.number("program.sees_its_own_elision"), 1u);
}

TEST(SimulatedMachines, RtmSaysNothingOfFaultsAndSystemCalls) {
  const image_result seen = facts_of("haswell-i7-4770");
  EXPECT_EQ(seen.number("program.first_touch"), 0u);
  EXPECT_EQ(seen.number("program.system_call"), 0u);
  EXPECT_GE(seen.number("aborts.fault"), 1u);  // but the simulation knows
  EXPECT_GE(seen.number("aborts.syscall"), 1u);
}

TEST(SimulatedMachines, Power8HoldsSixtyFourLinesInAll) {
  const image_result seen = facts_of("power8-8284-22a");
  EXPECT_EQ(seen.number("program.stride_1"), 64u);
  EXPECT_EQ(seen.number("program.stride_4"), 64u);  // a content-addressed memory has no sets
  EXPECT_EQ(seen.number("program.nesting"), 62u);
  EXPECT_EQ(seen.number("program.incremented"), 64u) << "a line that is read and written takes one entry";
}

TEST(SimulatedMachines, Power8SpeaksOfAbortsAsTexasrDoes) {
  const image_result seen = facts_of("power8-8284-22a");
  constexpr std::uint64_t system_call = 1 << 11;
  EXPECT_EQ(seen.number("program.system_call"), system_call);  // persistent: no retry bit
}

TEST(SimulatedMachines, SuspendedCodeIsNoPartOfTheAttempt) {
  for (const char* machine : {"power8-8284-22a", "ideal"}) {
    const image_result seen = facts_of(machine);
    EXPECT_EQ(seen.number("program.call_while_suspended"), 1u) << machine;
    EXPECT_EQ(seen.number("program.own_store_while_suspended"), conflict_and_retry) << machine;
    EXPECT_EQ(seen.number("program.foreign_store_while_suspended"), conflict_and_retry) << machine;
  }
}

TEST(SimulatedMachines, AFilterOfReadLinesHitsOthers) {
  image_request request = request_for("ideal");
  request.model.l1_kib = 8;
  request.model.l1_ways = 8;
  EXPECT_EQ(facts_of(request).number("program.stores_elsewhere"), 0u);
  request.model.htm_read_filter = 64;
  EXPECT_EQ(facts_of(request).number("program.stores_elsewhere"), conflict_and_retry);
}

TEST(SimulatedMachines, WhoLosesAConflictSeesNothingOfTheWinners) {
  image_request request = request_for("ideal");
  request.model.htm_requester_wins = 0;
  facts_of(request);
}

TEST(SimulatedMachines, AModelWithoutTransactionsOffersNone) {
  image_request request = request_for("haswell-i7-4770");
  request.model.htm_attempts = 0;
  const image_result seen = run_image(request);
  EXPECT_EQ(seen.status, 0) << seen.messages;
  EXPECT_EQ(seen.number("program.attempts"), 0u);
}

TEST(SimulatedMachines, TheOracleIsSilentOnAllOfIt) {
  image_request request = request_for("broadwell-e5-2697v4");
  request.oracle = true;
  EXPECT_EQ(run_image(request).status, 0);
}

TEST(SimulatedMachines, AnImageThatIsNotThereIsOneSentence) {
  image_request request = request_for("ideal");
  request.path = "/nowhere/image";
  try {
    run_image(request);
    FAIL() << "it started";
  } catch (const image_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/image"), std::string::npos);
  }
}

}  // namespace
