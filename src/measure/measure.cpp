// SPDX-License-Identifier: Apache-2.0
// The runs of `txsync bench`.
#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "base/stop_on_signal.hpp"
#include "measure/describe.hpp"
#include "measure/measure.hpp"
#include "measure/site_watch.hpp"
#include "workloads/harness/fairness.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::measure {
using base::stop_on_signal;

namespace {

/// One lock at one number of threads.
struct cell {
  const workloads::subject* lock = nullptr;
  observe::point point;
  std::unique_ptr<workloads::latency_histogram> latency = std::make_unique<workloads::latency_histogram>();

  site_watch sites;
  bool broken = false;  ///< its check failed: not run again

  bool was_run() const { return !point.values.empty() || !point.faults.empty(); }
};

std::vector<cell> cells_of(const bench_request& request) {
  std::vector<cell> cells;
  for (const unsigned threads : request.threads) {
    for (const workloads::subject* lock : request.locks) {
      cell made;
      made.lock = lock;
      made.point.workload = request.workload->name;
      made.point.params = named_values(*request.workload, request.values);
      made.point.preset = request.preset;
      made.point.threads = threads;
      made.point.placement = request.placement;
      made.point.subject = lock->name;
      made.point.kind = lock->peer ? observe::subject_kind::peer : observe::subject_kind::ours;
      made.point.waiting = waiting_word(lock->how);
      made.point.metric = "throughput";
      made.point.unit = std::string(request.workload->operation) + "/s";
      cells.push_back(std::move(made));
    }
  }
  return cells;
}

void run_once(const bench_request& request, cell& one, unsigned round) {
  workloads::plan plan = request.plan;
  plan.threads = one.point.threads;
  const workloads::subject::runner run = one.lock->runner_of(workloads::id_of(*request.workload));
  one.sites.begin();
  const auto seen =
      std::make_unique<workloads::outcome>(workloads::run_with_shares(run, request.values, plan, one.point.fairness));
  one.sites.end();
  one.point.unpinned = std::max(one.point.unpinned, seen->unpinned);
  const std::string where = fmt::format("repetition {}: ", round + 1);
  if (seen->fault != nullptr) {
    one.point.faults.push_back(where + seen->fault);
    one.broken = true;
  } else if (seen->elapsed_ns == 0) {
    one.point.faults.push_back(where + "the measured time was 0 ns");
  } else {
    one.point.values.push_back(workloads::operations_per_second(*seen));
    one.point.fewest.push_back(seen->fewest);
    one.point.most.push_back(seen->most);
    one.latency->merge(seen->latency);
    const auto timed =
        std::make_unique<workloads::outcome>(workloads::run_for_waits(run, request.values, plan, one.point.fairness));
    if (timed->fault == nullptr) return;
    one.point.faults.push_back(where + "with every operation timed: " + timed->fault);
    one.broken = true;
  }
}

}  // namespace

bench_result measure(const bench_request& request) {
  const stop_on_signal guard;
  std::vector<cell> cells = cells_of(request);
  bench_result result;
  result.planned = static_cast<unsigned>(cells.size()) * request.repeat;
  for (unsigned round = 0; round < request.repeat && !stop_on_signal::asked(); ++round) {
    for (cell& one : cells) {
      if (stop_on_signal::asked()) break;
      if (one.broken) continue;
      run_once(request, one, round);
      ++result.runs;
    }
  }
  result.interrupted = stop_on_signal::asked();
  for (cell& one : cells) {
    if (!one.was_run()) continue;
    workloads::put_latency(one.point, *one.latency);
    one.point.sites = one.sites.records();
    result.points.push_back(std::move(one.point));
  }
  return result;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::measure
