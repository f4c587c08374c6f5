// SPDX-License-Identifier: Apache-2.0
// What is to be tuned: the options of `txsync tune`, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/words.hpp"
#include "measure/request.hpp"
#include "sim/models/machine_file.hpp"
#include "tune/metric.hpp"
#include "tune/record.hpp"

namespace txsync::inline TXSYNC_BACKEND::tune {

/// The options as the user wrote them.
struct tune_options {
  base::words what;  ///< a workload with its parameters; none if a program is tuned
  std::optional<std::string> metric;
  bool lower_is_better = false;
  std::optional<std::string> input;
  std::optional<std::string> machine;
  std::optional<std::string> from;
  std::optional<std::string> candidates;
  std::optional<std::string> rounds;
  std::optional<std::string> time;
  std::optional<std::string> policy;  ///< -o
  std::optional<std::string> page;    ///< --report
  std::optional<std::string> seed;    ///< for workloads, and on simulated machines
  // For workloads only:
  std::optional<std::string> threads;
  std::optional<std::string> duration;
};

/// What to tune, and how.
struct tune_request {
  base::words command;                          ///< the program with its arguments; empty: a workload
  std::optional<tune::metric> metric;           ///< for a program
  std::optional<std::string> input;             ///< for a program: a file that each run reads
  std::optional<measure::bench_request> bench;  ///< the workload
  // For a program on a simulated machine:
  std::optional<sim::machine> machine;
  std::string machine_word;  ///< the user's name for it
  std::uint64_t seed = 1;    ///< of the first run
  question asked;
  tune::described described;
};

/// `program`: what stands after "--"; empty without it. Throws bad_input.
tune_request checked(const tune_options& options, const base::words& program);

}  // namespace txsync::inline TXSYNC_BACKEND::tune
