// SPDX-License-Identifier: Apache-2.0
// Threads that run blocks again and again, without a workload: what stands beside their throughput.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <txsync/machine/cpu.hpp>

#include "observe/statistics.hpp"
#include "tm/points.hpp"
#include "workloads/harness/fairness.hpp"
#include "workloads/harness/team.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// body(thread) makes a thread's step, which runs a block.
template <class Body>
struct steps_of {
  const Body& body;
};

template <class Body>
void step_again_and_again(workloads::worker& me, steps_of<Body>& steps) {
  decltype(auto) step = steps.body(me.index());
  me.wait_for_start();
  const std::uint64_t before_ns = machine::thread_cpu_ns();
  while (me.more()) {
    const bool timed = me.begin();
    step();
    me.entered(timed);  // so that the longest one is kept
    me.finish();
  }
  me.tally(0) = machine::thread_cpu_ns() - before_ns;
}

/// The figures of a team, by round.
class team_figures {
 public:
  /// A round: runs for that long, and then for a quarter of it with every block timed.
  template <class Body>
  void add(unsigned threads, unsigned milliseconds, const Body& body) {
    steps_of<Body> steps{body};
    std::vector<std::uint64_t> operations(threads);
    workloads::plan how{.threads = threads, .placement = machine::placement::none};
    how.duration_ns = std::uint64_t{milliseconds} * 1'000'000;
    how.operations_by_thread = operations.data();
    const workloads::team_result all = workloads::run_team<step_again_and_again<Body>>(how, steps);
    throughput_.push_back(workloads::operations_per_second(all.seen));
    fairness_.slowest_share.push_back(observe::slowest_share(operations));
    fairness_.busier_half_share.push_back(observe::busier_half_share(operations));
    cpus_.push_back(static_cast<double>(all.tallies[0]) / static_cast<double>(all.seen.elapsed_ns));
    how.sample_every = 1;
    how.duration_ns /= 4;
    const workloads::team_result timed = workloads::run_team<step_again_and_again<Body>>(how, steps);
    latency_.merge(timed.seen.latency);
    max_block_ns_.push_back(static_cast<double>(timed.seen.max_wait_ns));
  }

  const std::vector<double>& throughput() const noexcept { return throughput_; }

  static void print_head(std::FILE* out) {
    std::fprintf(out, "  %-14s %-44s %7s %9s %7s %9s %10s %5s\n", "algorithm", "blocks", "threads", "million/s",
                 "slowest", "p99.9 us", "longest us", "CPUs");
  }
  /// Prints a line, and adds the throughput and two points more. Requires: a round.
  void report(std::FILE* out, observe::document& result, const std::string& subject, const std::string& what,
              unsigned threads) const {
    const auto median = [](const std::vector<double>& values) { return observe::summarize(values).median; };
    std::fprintf(out, "  %-14s %-44s %7u %9.2f %7.2f %9.2f %10.0f %5.2f\n", subject.c_str(), what.c_str(), threads,
                 median(throughput_) / 1e6, median(fairness_.slowest_share),
                 static_cast<double>(latency_.percentile(0.999)) / 1e3, median(max_block_ns_) / 1e3, median(cpus_));
    const auto add_point = [&](const char* metric, const char* unit, observe::better way,
                               const std::vector<double>& values) -> observe::point& {
      result.points.push_back(make_point("separate", subject, threads, metric, unit, way, values));
      result.points.back().params = {{"blocks", what}};
      return result.points.back();
    };
    observe::point& first = add_point("throughput", "blocks/s", observe::better::higher, throughput_);
    first.fairness = fairness_;
    workloads::put_latency(first, latency_);
    add_point("longest block", "ns", observe::better::lower, max_block_ns_);
    add_point("CPUs in use", "s/s", observe::better::lower, cpus_);
  }

 private:
  std::vector<double> throughput_;
  observe::fairness_record fairness_;
  std::vector<double> cpus_;
  std::vector<double> max_block_ns_;
  workloads::latency_histogram latency_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
