// SPDX-License-Identifier: Apache-2.0
#include "tune/workload_trial.hpp"

#include <memory>

namespace txsync::inline TXSYNC_BACKEND::tune {

measured workload_trial::run(const choice& what, double) {
  const workloads::subject* lock = workloads::find_subject(what.candidate);
  const auto seen = std::make_unique<workloads::outcome>(lock->runner_of(workloads::id_of(which_))(values_, how_));
  measured result;
  result.seconds = static_cast<double>(seen->elapsed_ns) * 1e-9;
  if (seen->fault != nullptr) {
    result.failure = seen->fault;
  } else if (seen->elapsed_ns == 0) {
    result.failure = "the measured time was 0 ns";
  } else {
    result.value = workloads::operations_per_second(*seen);
  }
  return result;
}

}  // namespace txsync::inline TXSYNC_BACKEND::tune
