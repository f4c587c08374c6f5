// SPDX-License-Identifier: Apache-2.0
// The runs of a workload on this machine.
#pragma once

#include <vector>

#include "measure/request.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::measure {

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

}  // namespace txsync::TXSYNC_INLINE_BACKEND::measure
