// SPDX-License-Identifier: Apache-2.0
// Schedules of the built-in tests on the simulated machine: which tests there are, running them, keys that repeat one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "cli/words.hpp"
#include "sim/host/image.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {

/// How schedules are made: ORDER, and what else they try, as ORDER+MODE.
struct schedule_kind {
  sim::schedule_order order = sim::schedule_order::random;
  bool store_buffers = false;
  unsigned probes = 0;  ///< bits of sim::probe

  std::string text() const;
  /// Adds a mode by its name: "store-buffers", or a probe. Throws bad_input.
  void add(const std::string& mode);
};
/// "random", "priorities", "delay-bounded" or "round-robin", and modes; throws bad_input.
schedule_kind parse_kind(const std::string& text);

struct exploration_test {
  std::string name;
  std::string summary;
  std::string expected;  ///< "right", "broken", or "broken-with-MODE", which is right without

  /// Whether exploring in this way has to find the fault that the test is seeded with.
  bool has_to_fail(const schedule_kind& how) const;
};

/// The tests of the image; none where this txsync has no simulated machine.
std::vector<exploration_test> exploration_tests();

/// One schedule of one test: TEST@ORDER[+MODE]@SEED.
struct schedule_key {
  std::string test;
  schedule_kind kind;
  std::uint64_t seed = 1;

  std::string text() const;
};
/// Complains of a test that is none of `names`, which are too many for one line.
std::string unknown_test(const std::string& name, const words& names);
/// Throws bad_input.
schedule_key parse_key(const std::string& text);

/// What runs `count` schedules from the key's on. A machine without limits and interrupts: orders are all that differs.
sim::image_request exploration_request(const schedule_key& first, std::uint64_t count);

/// What was wrong with a run, in one line: the test's own words, or why the simulation could not go on.
std::string complaint_of(const sim::image_result& seen, const std::string& image);

}  // namespace txsync::inline TXSYNC_BACKEND::cli
