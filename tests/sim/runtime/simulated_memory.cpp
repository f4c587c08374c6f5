// SPDX-License-Identifier: Apache-2.0
// What a line of memory costs: one after the other, all at once, and ahead of time (memory_facts.cpp).
#include <gtest/gtest.h>

#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"

namespace {

using namespace txsync::sim;

/// Hundredths of a cycle a line.
struct costs {
  double chain;
  double independent;
  double forward;
  double backward;
  double asserted;  ///< of all lines, in an assertion
};

machine_model small_machine() {
  machine_model model = read_machine(std::string(TXSYNC_SHIPPED_MACHINES) + "/haswell-i7-4770.toml").model;
  model.l3_kib = 1024;  // so that a few megabytes are more than it holds
  model.l3_ways = 16;
  model.tlb_entries = 0;
  model.os_timer_hz = 0;
  return model;
}

/// A quarter of the lines is in the last level.
double expected_miss(const machine_model& model) { return 75.0 * model.memory_local + 25.0 * model.l3_hit; }

costs costs_on(const machine_model& model) {
  image_request request;
  request.path = TXSYNC_MEMORY_IMAGE;
  request.model = model;
  const image_result seen = run_image(request);
  EXPECT_EQ(seen.status, 0) << seen.messages;
  const auto number = [&](const char* name) { return static_cast<double>(seen.number(name)); };
  return {number("program.chain"), number("program.independent"), number("program.forward"), number("program.backward"),
          number("program.asserted")};
}

TEST(SimulatedMemory, WhatAnAssertionLooksAtCostsNothingAndIsNotCached) {
  machine_model model = small_machine();
  model.prefetch_streams = 0;
  const costs seen = costs_on(model);
  EXPECT_EQ(seen.asserted, 0);
  EXPECT_NEAR(seen.chain, expected_miss(model), 0.1 * expected_miss(model));
}

TEST(SimulatedMemory, MissesThatDependOnNothingOverlap) {
  machine_model model = small_machine();
  model.prefetch_streams = 0;
  for (const std::uint32_t overlap : {2u, 4u}) {
    model.memory_overlap = overlap;
    const costs seen = costs_on(model);
    EXPECT_NEAR(seen.chain / seen.independent, overlap, overlap * 0.15) << overlap;
    EXPECT_NEAR(seen.chain, expected_miss(model), 0.1 * expected_miss(model));
  }
}

TEST(SimulatedMemory, WithoutOverlapAndPrefetcherEveryMissCostsTheSame) {
  machine_model model = small_machine();
  model.prefetch_streams = 0;
  model.memory_overlap = 1;
  const costs seen = costs_on(model);
  EXPECT_NEAR(seen.independent, seen.chain, seen.chain * 0.15);
  EXPECT_NEAR(seen.forward, seen.chain, seen.chain * 0.15);
}

TEST(SimulatedMemory, StreamsAreFollowedInBothDirections) {
  machine_model model = small_machine();
  model.memory_overlap = 1;
  const costs seen = costs_on(model);
  EXPECT_LT(seen.forward, seen.independent / 4);
  EXPECT_LT(seen.backward, seen.independent / 4);
  EXPECT_NEAR(seen.chain, expected_miss(model), 0.1 * expected_miss(model)) << "there is nothing to follow";
}

}  // namespace
