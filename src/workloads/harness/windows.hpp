// SPDX-License-Identifier: Apache-2.0
// Undisturbed windows: stretches of a run in which every thread ran. On a machine that others use, a thread is off its
// CPU now and then. A lock is then uncontended, and several times as fast. So a whole run says as much about the other
// programs as about the lock. Native only.
//
// A window lasts window_ns. It counts if no thread has a gap in it: more than max_gap_ns from one stamp to the next. A
// thread that waits for a lock as long as that has a gap, too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "observe/document/document.hpp"
#include "workloads/harness/stamps.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

inline constexpr std::uint64_t stamp_ns =
    50'000;  ///< from stamp to stamp, if operations are short; a stamp takes 50 ns
inline constexpr std::uint64_t max_gap_ns = 200'000;
inline constexpr std::uint64_t window_ns = 1'000'000;
inline constexpr std::uint64_t min_windows = 10;  ///< a run with fewer has no throughput over windows

/// The windows of a run that count.
struct window_total {
  std::uint64_t windows = 0;
  double operations = 0;  ///< of all threads; between two stamps a thread is taken to have had one speed
};

/// Of threads with these stamps, which ascend. Times are in the unit of the stamps. Windows do not overlap; after a gap
/// the next one begins at once. None if a thread has fewer than two stamps, or if there is no thread. Requires: length
/// is not 0.
window_total undisturbed_windows(std::span<const std::span<const stamp>> by_thread, std::uint64_t length,
                                 std::uint64_t max_gap);

/// As run_with_shares(), with stamps: if the run has no fault, it adds throughput and share to `windows`, too.
/// Requires: how.sample_every is 0.
outcome run_with_windows(subject::runner run, const parameters& values, plan how, observe::fairness_record& shares,
                         observe::undisturbed_record& windows);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
