// SPDX-License-Identifier: Apache-2.0
// The parts of `txsync sim`: the request, the runs on the simulated machine, the tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/bench.hpp"
#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {

struct sim_request {
  sim::machine machine;
  bench_request bench;
  std::string image;
  std::uint64_t slack_cycles = 0;
  bool oracle = false;
};

/// Runs every cell; a fault of the program's own check is in the points. Throws bad_input where the simulation itself
/// cannot go on.
bench_result simulate(const sim_request& request);

/// What the documents say of the machine.
observe::json machine_object(const sim::machine& machine);

void print_attempts(std::FILE* out, const bench_result& result);
void print_abort_places(std::FILE* out, const bench_result& result);

}  // namespace txsync::inline TXSYNC_BACKEND::cli
