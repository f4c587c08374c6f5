// SPDX-License-Identifier: Apache-2.0
// Schedules of the built-in tests on the simulated machine: which tests there are, running them, keys that repeat one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "sim/host/image.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {

struct exploration_test {
  std::string name;
  std::string summary;
  bool broken = false;  ///< seeded with a fault
};

/// The tests of the image; none where this txsync was built without the simulated machine.
std::vector<exploration_test> exploration_tests();

/// One schedule of one test: TEST@ORDER@SEED.
struct schedule_key {
  std::string test;
  sim::schedule_order order = sim::schedule_order::random;
  std::uint64_t seed = 1;

  std::string text() const;
};
/// Throws bad_input.
schedule_key parse_key(const std::string& text);

/// "random", "priorities" or "round-robin"; throws bad_input.
sim::schedule_order parse_order(const std::string& text);
const char* order_word(sim::schedule_order order);

/// What runs `count` schedules from the key's on. A machine without limits and interrupts: orders are all that differs.
sim::image_request exploration_request(const schedule_key& first, std::uint64_t count);

/// What was wrong with a run, in one line: the test's own words, or why the simulation could not go on.
std::string complaint_of(const sim::image_result& seen, const std::string& image);

}  // namespace txsync::inline TXSYNC_BACKEND::cli
