// SPDX-License-Identifier: Apache-2.0
#include "tune/workload_trial.hpp"

#include <memory>

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

measured workload_trial::run(const configuration& config, double) {
  const workloads::subject* lock = workloads::find_subject(config.candidate);
  const auto outcome = std::make_unique<workloads::outcome>(lock->runner_of(workloads::id_of(which_))(values_, how_));
  measured result;
  result.seconds = static_cast<double>(outcome->elapsed_ns) * 1e-9;
  if (outcome->fault != nullptr) {
    result.failure = outcome->fault;
  } else if (outcome->elapsed_ns == 0) {
    result.failure = "the measured time was 0 ns";
  } else {
    result.value = workloads::operations_per_second(*outcome);
  }
  return result;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
