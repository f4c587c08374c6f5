// SPDX-License-Identifier: Apache-2.0
#include "tm/mixed_simulated.hpp"

#ifdef TXSYNC_HAS_MODELS

#include <string>
#include <utility>
#include <vector>

#include "locks/measure.hpp"
#include "observe/statistics.hpp"
#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"
#include "simulate/simulate.hpp"
#include "tm/auto_claims.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

constexpr unsigned seeds = 4;

/// Of one section on one machine. The points' presets name the section.
std::vector<observe::point> simulated(const char* machine, const section& which, unsigned milliseconds) {
  simulate::sim_request request;
  request.machine = sim::load_machine(machine);
  request.machine_word = machine;
  request.image = sim::image_file("workloads");
  request.uncharged_set_up = true;
  request.bench.workload = which.workload;
  request.bench.values = which.values;
  request.bench.preset = which.name;
  request.bench.threads = {2, 4};
  for (const std::string& name : which.only) request.bench.locks.push_back(workloads::find_subject(name));
  request.bench.plan.duration_ns = std::uint64_t{milliseconds} * 1'000'000;
  request.bench.plan.run_in_ns = request.bench.plan.duration_ns / 4;
  request.bench.placement = "cores-first";
  request.bench.repeat = seeds;
  std::vector<observe::point> points = simulate::simulate(request).points;
  for (observe::point& one : points) one.params["machine"] = machine;
  return points;
}

void print(std::FILE* out, const observe::point& one) {
  const double commits = one.attempts ? static_cast<double>(one.attempts->commits) : 0;
  const double throughput = one.values.empty() ? 0 : observe::summarize(one.values).median;
  std::fprintf(out, "  %-18s %-18s %7u  %-12s %9.3f %12.0f\n", std::string(one.params["machine"]).c_str(),
               one.preset.c_str(), one.threads, one.subject.c_str(), throughput / 1e6, commits);
}

/// auto, which is the first of these points, to the best of the others.
void claim_best(observe::document& result, const std::vector<std::size_t>& from) {
  std::vector<observe::peer_values> others;
  for (const std::size_t one : from) {
    if (result.points[one].values.size() != seeds) return;  // a fault, which the point tells
    if (one != from.front()) others.push_back({result.points[one].subject, result.points[one].values});
  }
  const observe::point& ours = result.points[from.front()];
  const observe::peer_comparison compared = observe::compare_to_best_peer(ours.values, others);
  const observe::point& best = result.points[from[compared.peer + 1]];
  std::string words = std::string(mixed_preset) + ", " + std::to_string(ours.threads) + " threads, " +
                      std::string(ours.params["machine"]) +
                      ", simulated: auto to the best algorithm for all blocks or " + "assignment of blocks to paths, " +
                      best.subject + " with " + best.preset;
  result.claims.push_back(
      observe::judged({.id = "D2-2", .words = std::move(words), .from = from}, compared.ratio, goal_of_auto));
}

}  // namespace

void simulate_mixed(std::FILE* out, observe::document& result, unsigned milliseconds) {
  std::fprintf(out, "\nMixed blocks, simulated\n  %-18s %-18s %7s  %-12s %9s %12s\n", "machine", "section", "threads",
               "algorithm", "million/s", "in hardware");
  for (const char* const machine : {"haswell-i5-4670t", "haswell-i7-4770"}) {
    std::vector<std::size_t> by_threads[2];
    for (const section& which : mixed_sections()) {
      if (interrupted()) return;
      std::fprintf(stderr, "%s, simulated: %s\n", machine, which.name.c_str());
      for (observe::point& one : simulated(machine, which, milliseconds)) {
        print(out, one);
        by_threads[one.threads == 4].push_back(result.points.size());
        result.points.push_back(std::move(one));
      }
    }
    for (const std::vector<std::size_t>& from : by_threads) claim_best(result, from);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

#else

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

void simulate_mixed(std::FILE* out, observe::document&, unsigned) {
  std::fprintf(out, "Mixed blocks are not simulated: this build has no simulated machine.\n");
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

#endif
