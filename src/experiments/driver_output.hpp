// SPDX-License-Identifier: Apache-2.0
// What one run of a whole program tells, and what several runs make of a point. Drivers write it: the code that uses
// LevelDB or Kyoto Cabinet, in benchmarks/leveldb/driver.cpp and benchmarks/kyotocabinet/driver.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

/// LevelDB's driver has two workloads of db_bench; its others are YCSB's.
inline bool fills(const std::string& workload) { return workload.starts_with("fill"); }

struct driver_output {
  struct latency {
    std::uint64_t samples = 0;
    std::array<double, std::size(observe::written_percentiles)> ns = {};
  };
  double operations = 0;
  double elapsed_ns = 0;
  std::uint64_t wrong = 1;
  std::map<std::string, latency> latencies = {};  ///< by kind of operation; none of fills
  /// (seconds since the start, operations that had ended until then); empty of fills.
  std::vector<std::pair<double, double>> progress = {};
};

/// Throws std::runtime_error where `text` is not what the driver writes.
driver_output parse_driver_output(const std::string& text);

/// Operations that had ended at `seconds`, between two marks in proportion.
double ended_until(const driver_output& run, double seconds);

/// Throughput by run, latencies (medians of the runs), the first run's progress, and what was wrong.
void add_runs(observe::point& into, const std::vector<driver_output>& runs);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
