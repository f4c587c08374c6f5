// SPDX-License-Identifier: Apache-2.0
// The parts of `txsync tune`: the request (options checked), progress, the table.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "measure/measure.hpp"
#include "base/words.hpp"
#include "sim/models/machine_file.hpp"
#include "tune/metric.hpp"
#include "tune/record.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {

/// The options as the user wrote them.
struct tune_options {
  words what;  ///< a workload with its parameters; none if a program is tuned
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
  words command;                       ///< the program with its arguments; empty: a workload
  std::optional<tune::metric> metric;  ///< for a program
  std::optional<std::string> input;    ///< for a program: a file that each run reads
  std::optional<bench_request> bench;  ///< the workload
  // For a program on a simulated machine:
  std::optional<sim::machine> machine;
  std::string machine_word;  ///< the user's name for it
  std::uint64_t seed = 1;    ///< of the first run
  tune::question asked;
  tune::described described;
};

/// `program`: what stands after "--"; empty without it. Throws bad_input.
tune_request checked(const tune_options& options, const words& program);

/// Lines on standard error during the run: rewritten in place on a terminal, otherwise one for each new round.
class tune_progress {
 public:
  tune_progress();
  ~tune_progress();
  tune_progress(const tune_progress&) = delete;
  tune_progress& operator=(const tune_progress&) = delete;

  void show(const tune::progress& now, double seconds);

  /// Prints a line that stays.
  void say(const std::string& line);

 private:
  bool terminal_;
  bool open_ = false;
  std::string last_;
};

/// How long everything is expected to take, and how to limit it; empty if that is at most 5 minutes.
std::string expectation_words(const tune::expected_time& time);

void print_table(std::FILE* out, const tune::outcome& found, const tune::described& what);

}  // namespace txsync::inline TXSYNC_BACKEND::cli
