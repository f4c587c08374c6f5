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

/// One place in the code where attempts ended, of one point.
struct abort_site {
  std::string cause;
  std::uint64_t count = 0;
  std::string own;    ///< "function (file:line)" of the access that was in the attempt
  std::string other;  ///< of the one that met it; empty without
  std::string data;   ///< "name + 8 bytes" or the address
};

struct sim_result {
  bench_result bench;
  std::vector<std::vector<abort_site>> aborts;  ///< by point, most frequent first
};

/// Runs every cell; a fault of the program's own check is in the points. Throws bad_input where the simulation itself
/// cannot go on.
sim_result simulate(const sim_request& request);

/// What the documents say of the machine.
observe::json machine_object(const sim::machine& machine);

void print_attempts(std::FILE* out, const sim_result& result);
void print_abort_sites(std::FILE* out, const sim_result& result);

}  // namespace txsync::inline TXSYNC_BACKEND::cli
