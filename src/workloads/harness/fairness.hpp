// SPDX-License-Identifier: Apache-2.0
// Runs of a workload that also report how evenly the threads had their turns, and how they waited. Native only.
#pragma once

#include "observe/document/document.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// Runs once. If the run has no fault, it adds the shares of the threads to the record. It also adds the waits if the
/// plan times every operation and the workload records waits.
outcome run_with_shares(subject::runner run, const parameters& values, plan how, observe::fairness_record& into);

/// A separate run for the waits, half as long. It times every operation, which would change the throughput of the run
/// above. Adds only waits. With one thread, which never waits, or for a workload that recorded no waits before, nothing
/// is run, and the outcome is empty.
outcome run_for_waits(subject::runner run, const parameters& values, plan how, observe::fairness_record& into);

/// The percentiles of the point's operations, if there are samples.
void put_latency(observe::point& into, const latency_histogram& samples);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
