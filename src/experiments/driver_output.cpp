// SPDX-License-Identifier: Apache-2.0
#include "experiments/driver_output.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

std::vector<std::pair<double, double>> read_progress(std::istream& said) {
  double slice_ns = 0;
  std::size_t slices = 0;
  said >> slice_ns >> slices;
  std::vector<std::pair<double, double>> made;
  double until = 0;
  for (std::size_t i = 1; i <= slices; ++i) {
    double ended = 0;
    said >> ended;
    until += ended;
    made.emplace_back(static_cast<double>(i) * slice_ns * 1e-9, until);
  }
  // What comes after the last operation tells nothing.
  while (made.size() > 1 && made[made.size() - 2].second == until) made.pop_back();
  return made;
}

}  // namespace

driver_output parse_driver_output(const std::string& text) {
  driver_output made;
  std::istringstream said(text);
  for (std::string name; said >> name;) {
    if (name == "operations") said >> made.operations;
    if (name == "elapsed_ns") said >> made.elapsed_ns;
    if (name == "wrong") said >> made.wrong;
    if (name == "progress") made.progress = read_progress(said);
    if (name != "latency") continue;
    std::string operation;
    said >> operation;
    driver_output::latency& seen = made.latencies[operation];
    said >> seen.samples;
    for (double& value : seen.ns) said >> value;
  }
  if (!said.eof() || made.elapsed_ns == 0) throw std::runtime_error("the driver gave no result");
  return made;
}

double ended_until(const driver_output& run, double seconds) {
  std::pair<double, double> before{0, 0};
  for (const auto& mark : run.progress) {
    if (mark.first >= seconds) {
      return before.second + (mark.second - before.second) * (seconds - before.first) / (mark.first - before.first);
    }
    before = mark;
  }
  return before.second;
}

void add_runs(observe::point& into, const std::vector<driver_output>& runs) {
  struct merged {
    std::uint64_t samples = 0;
    std::array<std::vector<double>, std::size(observe::written_percentiles)> ns = {};
  };
  std::map<std::string, merged> latencies;
  into.metric = "throughput";
  into.unit = "operations/s";
  for (const driver_output& run : runs) {
    if (run.wrong != 0) into.faults.push_back(std::to_string(run.wrong) + " values were wrong");
    into.values.push_back(run.wrong != 0 ? 0 : run.operations / run.elapsed_ns * 1e9);
    for (const auto& [operation, seen] : run.latencies) {
      merged& all = latencies[operation];
      all.samples += seen.samples;
      for (std::size_t i = 0; i < seen.ns.size(); ++i) all.ns[i].push_back(seen.ns[i]);
    }
  }
  for (const auto& [operation, seen] : latencies) {
    observe::percentile_record record;
    record.samples = seen.samples;
    for (std::size_t i = 0; i < seen.ns.size(); ++i) {
      record.values.emplace_back(observe::written_percentiles[i].first, observe::summarize(seen.ns[i]).median);
    }
    into.latency.emplace_back(operation, std::move(record));
  }
  if (!runs.empty()) into.series = runs.front().progress;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
