// SPDX-License-Identifier: Apache-2.0
// The preset that is added to a copy of src/policy/presets.hpp (CMakeLists.txt here) becomes a subject of bench and
// sim. src/workloads/subjects/eliding.cpp is compiled from that copy, in place of the one in the library of workloads.
#include <gtest/gtest.h>

#include "policy/presets.hpp"
#include "workloads/harness/workload.hpp"

namespace workloads = txsync::workloads;

namespace {

TEST(OneMorePreset, IsASubjectThatRuns) {
  const workloads::subject* const made = workloads::find_subject("one_more_tatas");
  ASSERT_NE(made, nullptr);
  EXPECT_STREQ(made->summary, "tatas, a test's");
  EXPECT_TRUE(made->speculates);
  constexpr std::uint64_t operations = 100;
  workloads::parameters values = workloads::default_parameters(*workloads::find_workload("arraybench"));
  const auto ints = workloads::find_parameter(*workloads::find_workload("arraybench"), "ints");
  values.values[ints] = 4'096;
  const workloads::outcome seen =
      made->runner_of(workloads::workload_id::arraybench)(values, {.threads = 2, .operations = operations});
  EXPECT_EQ(seen.fault, nullptr) << seen.fault;
  EXPECT_EQ(seen.operations, 2 * operations);
}

TEST(OneMorePreset, LeavesTheOthersTheirNames) {
  for (const char* const name : {"shore_tatas", "shore_mcs", "elided_futex", "htm_10_aahtm_tatas", "lemming_tatas"}) {
    EXPECT_NE(workloads::find_subject(name), nullptr) << name;
  }
}

}  // namespace
