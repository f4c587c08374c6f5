// SPDX-License-Identifier: Apache-2.0
// The locks on the simulated machine, with the oracle, in the order of simulated time and in orders that no clock would
// give. Every run checks its own result. And the same seed is the same run.
#include <gtest/gtest.h>

#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"

namespace {

using namespace txsync::sim;

struct run {
  std::string workload = "counters";
  std::string lock = "tatas";
  unsigned threads = 4;
  std::vector<std::string> values = {};
  std::uint64_t operations = 60;
  std::uint64_t seed = 1;
  schedule_order order = schedule_order::virtual_time;
  bool oracle = true;
};

image_result result_of(const run& what) {
  image_request request;
  request.path = TXSYNC_WORKLOADS_IMAGE;
  request.model = read_machine(TXSYNC_SHIPPED_MACHINES "/haswell-i7-4770.toml").model;
  request.arguments = {what.workload,
                       what.lock,
                       std::to_string(what.threads),
                       "0",
                       "0",
                       "0",
                       std::to_string(what.operations),
                       "0",
                       std::to_string(what.seed),
                       "0"};
  request.arguments.insert(request.arguments.end(), what.values.begin(), what.values.end());
  request.seed = what.seed;
  request.order = what.order;
  request.oracle = what.oracle;
  return run_image(request);
}

class EveryLock : public testing::TestWithParam<const char*> {};

TEST_P(EveryLock, CountsRightlyInEveryOrder) {
  for (const schedule_order order :
       {schedule_order::virtual_time, schedule_order::random, schedule_order::round_robin}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const image_result seen = result_of({.lock = GetParam(), .seed = seed, .order = order});
      EXPECT_EQ(seen.status, 0) << "order " << static_cast<int>(order) << " seed " << seed << ": " << seen.messages;
      EXPECT_EQ(seen.number("program.operations"), 240u);
    }
  }
}

TEST_P(EveryLock, KeepsAMapWhole) {
  for (const schedule_order order : {schedule_order::virtual_time, schedule_order::random}) {
    const image_result seen =
        result_of({.workload = "mapbench", .lock = GetParam(), .values = {"100", "20", "40", "40"}, .order = order});
    EXPECT_EQ(seen.status, 0) << "order " << static_cast<int>(order) << ": " << seen.messages;
  }
}

TEST_P(EveryLock, KeepsMoneyAndLinkedItems) {
  const std::vector<std::string> bank = {"10", "50", "0", "1"};
  const std::vector<std::string> list = {"10", "20", "50", "0", "0"};
  const std::vector<std::string> map = {"3", "0", "10", "20", "50", "0", "0", "0"};
  for (const auto& [workload, values] : {std::pair{"bank", bank}, {"list", list}, {"hashmap", map}}) {
    const image_result seen = result_of({.workload = workload, .lock = GetParam(), .values = values});
    EXPECT_EQ(seen.status, 0) << workload << ": " << seen.messages;
  }
}

std::string name_of(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, EveryLock,
                         testing::Values("tatas", "ticket", "fifo_ticket", "mcs", "fifo_mcs", "futex", "txsync::mutex",
                                         "posix", "occ_rwlock", "srwlock", "txsync::shared_mutex", "elided_tatas",
                                         "elided_mcs", "elided_futex", "lemming_tatas", "hle_tas", "hle_tas_t"),
                         name_of);

TEST(SimulatedRuns, AttemptsWithoutALockEndEvenWhereNoneCanCommit) {
  const auto list = [](const char* allocation) {
    return run{.workload = "list", .lock = "rtm_only", .values = {"10", "20", "50", "0", allocation}, .oracle = false};
  };
  EXPECT_EQ(result_of(list("0")).status, 0);
  try {
    result_of(list("1"));
    ADD_FAILURE() << "sections that allocate have committed";
  } catch (const image_error& error) {
    EXPECT_NE(std::string(error.what()).find("rtm_only has tried a section 200,000 times in vain"), std::string::npos)
        << error.what();
  }
}

TEST(SimulatedRuns, TheSameSeedIsTheSameRun) {
  const run what{.workload = "mapbench", .lock = "elided_tatas", .threads = 8, .operations = 300, .oracle = false};
  const image_result first = result_of(what);
  ASSERT_EQ(first.status, 0) << first.messages;
  EXPECT_GT(first.number("attempts.committed"), 0u);
  for (int again = 0; again < 2; ++again) {
    const image_result other = result_of(what);
    EXPECT_EQ(other.records, first.records);
  }
  run another = what;
  another.seed = 2;
  EXPECT_NE(result_of(another).number("end_hash"), first.number("end_hash"));
}

TEST(SimulatedRuns, AnElidedLockLetsReadersRunBesideEachOther) {
  const auto time_of = [](const char* lock) {
    const image_result seen = result_of({.workload = "mapbench",
                                         .lock = lock,
                                         .threads = 4,
                                         .values = {"10000", "100", "0", "0"},
                                         .operations = 1000,
                                         .oracle = false});
    EXPECT_EQ(seen.status, 0) << seen.messages;
    return seen.number("program.elapsed_ns");
  };
  EXPECT_LT(2 * time_of("elided_tatas"), time_of("tatas"));  // virtual time: exact
}

TEST(SimulatedRuns, WithoutALockUpdatesAreLost) {
  const image_result seen = result_of({.lock = "none", .operations = 500});
  EXPECT_EQ(seen.status, 0) << seen.messages;  // its result is not checked; that it ends is
}

}  // namespace
