// SPDX-License-Identifier: Apache-2.0
// Samples of a real program, of the CPU's clock where the machine counts no aborts: all but the event is the same.
#include <gtest/gtest.h>

#include <linux/perf_event.h>

#include "attach/sample_names.hpp"
#include "launch/launch.hpp"

namespace attach = txsync::attach;
namespace launch = txsync::launch;
namespace observe = txsync::observe;

namespace {

launch::result sampled(const char* deed, const launch::counted_event& event) {
  launch::options what;
  what.command = {COUNTING_PROGRAM, deed};
  what.preload = false;
  what.capture = true;
  what.sampled = event;
  return launch::launch(what);
}

/// In nanoseconds.
const launch::counted_event cpu_clock{PERF_TYPE_SOFTWARE, {PERF_COUNT_SW_CPU_CLOCK}};

class SampledPrograms : public testing::TestWithParam<const char*> {};

TEST_P(SampledPrograms, CodeHasItsFunctionItsLineAndItsCaller) {
  const launch::result seen = sampled(GetParam(), cpu_clock);
  EXPECT_EQ(seen.exit_status, 0);
  ASSERT_TRUE(seen.samples);
  if (!seen.samples->why_not.empty()) GTEST_SKIP() << seen.samples->why_not;
  EXPECT_EQ(seen.samples->damaged, 0u);
  attach::code_names names;
  const std::vector<observe::abort_end> ends = attach::ends_of(*seen.samples, names);
  std::uint64_t all = 0;
  std::uint64_t counting = 0;
  std::uint64_t called = 0;
  for (const observe::abort_end& one : ends) {
    all += one.count;
    EXPECT_EQ(one.cause, "") << "a clock aborts nothing";
    if (!one.line.starts_with("shop::count_stock (counting_program.cpp:")) continue;
    counting += one.count;
    if (one.caller.starts_with("shop::close_day (counting_program.cpp:")) called += one.count;
  }
  // It runs for 60 ms of its CPU.
  EXPECT_GT(all, 20'000'000u);
  EXPECT_GT(static_cast<double>(counting), 0.5 * static_cast<double>(all));
  EXPECT_GT(static_cast<double>(called), 0.9 * static_cast<double>(counting));
}

INSTANTIATE_TEST_SUITE_P(All, SampledPrograms, testing::Values("count", "count-in-thread", "count-in-child"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(SampledProgram, WhatTheKernelDoesNotSampleIsNoError) {
  const launch::result seen = sampled("nothing", {0x7fffffff, {}});
  EXPECT_EQ(seen.exit_status, 0);
  ASSERT_TRUE(seen.samples);
  EXPECT_NE(seen.samples->why_not, "");
  EXPECT_EQ(seen.samples->samples, 0u);
  EXPECT_TRUE(seen.samples->places.empty());
}

}  // namespace
