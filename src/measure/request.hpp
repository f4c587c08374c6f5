// SPDX-License-Identifier: Apache-2.0
// What is to be measured: the options of `txsync bench` and `txsync sim`, checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/words.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::measure {

/// The options as the user wrote them.
struct bench_options {
  std::string workload;
  base::words settings;  ///< key=value
  std::optional<std::string> preset;
  std::optional<std::string> threads;
  std::optional<std::string> locks;
  std::optional<std::string> seed;
  std::optional<std::string> placement;
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
  workloads::plan plan;   ///< everything except the number of threads
  std::string placement;  ///< as it is printed
  unsigned repeat = 5;
};

/// The machine that a request is for.
struct environment {
  unsigned cpus = 1;  ///< hardware threads
  unsigned sockets = 1;
  bool simulated = false;  ///< only our own subjects exist, elided ones too, and one repetition is as good as five
};
/// This machine.
environment native_environment();

/// Throws bad_input.
bench_request checked(const bench_options& options, const environment& on);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::measure
