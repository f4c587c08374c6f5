// SPDX-License-Identifier: Apache-2.0
#include "workloads/harness/fairness.hpp"

#include <utility>
#include <vector>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

void add_waits(const outcome& seen, observe::fairness_record& into) {
  if (seen.fault != nullptr || seen.elapsed_ns == 0 || seen.waits.count() == 0) return;
  into.p999_wait_ns.push_back(static_cast<double>(seen.waits.percentile(0.999)));
  into.max_wait_ns.push_back(static_cast<double>(seen.max_wait_ns));
  into.wait_cpus.push_back(static_cast<double>(seen.wait_cpu_ns) / static_cast<double>(seen.elapsed_ns));
}

}  // namespace

outcome run_with_shares(subject::runner run, const parameters& values, plan how, observe::fairness_record& into) {
  std::vector<std::uint64_t> operations(how.threads);
  how.operations_by_thread = operations.data();
  const outcome seen = run(values, how);
  if (seen.fault != nullptr || seen.elapsed_ns == 0) return seen;
  into.slowest_share.push_back(observe::slowest_share(operations));
  into.busier_half_share.push_back(observe::busier_half_share(operations));
  add_waits(seen, into);
  return seen;
}

outcome run_for_waits(subject::runner run, const parameters& values, plan how, observe::fairness_record& into) {
  const bool tells_none = into.slowest_share.size() > 1 && into.max_wait_ns.empty();
  if (how.threads == 1 || tells_none || how.sample_every == 1) return {};
  how.sample_every = 1;
  how.duration_ns /= 2;
  const outcome seen = run(values, how);
  add_waits(seen, into);
  return seen;
}

void put_latency(observe::point& into, const latency_histogram& samples) {
  observe::percentile_record record{samples.count(), {}};
  if (record.samples == 0) return;
  for (const auto& [name, part] : observe::written_percentiles) {
    record.values.emplace_back(name, static_cast<double>(samples.percentile(part)));
  }
  into.latency.emplace_back("op", std::move(record));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
