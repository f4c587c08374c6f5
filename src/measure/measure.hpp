// SPDX-License-Identifier: Apache-2.0
// The parts of `txsync bench`: the request (options checked), the measurement, the table.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/words.hpp"
#include "observe/document/document.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {

/// The options as the user wrote them.
struct bench_options {
  std::string workload;
  words settings;  ///< key=value
  std::optional<std::string> preset;
  std::optional<std::string> threads;
  std::optional<std::string> locks;
  std::optional<std::string> seed;
  std::optional<std::string> place;
  std::optional<std::string> repeat;
  std::optional<std::string> duration;
  std::optional<std::string> operations;
  std::optional<std::string> sample;
  bool sites = false;
};

/// What to measure: every lock at every number of threads, `repeat` times.
struct bench_request {
  const workloads::workload* workload = nullptr;
  workloads::parameters values;
  std::string preset;
  std::vector<unsigned> threads;
  std::vector<const workloads::subject*> locks;
  workloads::plan plan;  ///< everything except the number of threads
  std::string place;     ///< as it is printed
  unsigned repeat = 5;
};

/// The machine that a request is for.
struct surroundings {
  unsigned cpus = 1;  ///< hardware threads
  unsigned sockets = 1;
  bool simulated = false;  ///< only our own subjects exist, elided ones too, and one repetition is as good as five
};
/// This machine.
surroundings native_surroundings();

/// Throws bad_input.
bench_request checked(const bench_options& options, const surroundings& on);

/// The results.
struct bench_result {
  std::vector<observe::point> points;  ///< by threads, then in the order of the locks; cells never run are left out
  unsigned runs = 0;                   ///< single runs that were made...
  unsigned planned = 0;                ///< ...out of so many
  bool interrupted = false;
};

/// Measures in rounds. Each round runs every cell once. All locks of one number of threads run one after the other, so
/// a disturbance hits them alike. A cell whose check fails is not run again. After SIGINT or SIGTERM it ends
/// with the current single run. A second such signal ends the program.
bench_result measure(const bench_request& request);

void print_heading(std::FILE* out, const bench_request& request, const std::string& machine);
void print_table(std::FILE* out, const bench_request& request, const bench_result& result);
/// Prints what went wrong on standard error, and returns the exit status.
int report_faults(const char* verb, const bench_result& result);
/// What txsync's own locks counted at their sites.
void print_sites(std::FILE* out, const bench_result& result);

}  // namespace txsync::inline TXSYNC_BACKEND::cli
