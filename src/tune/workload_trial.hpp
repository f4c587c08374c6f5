// SPDX-License-Identifier: Apache-2.0
// A built-in workload as a trial: the candidates are locks, the value is throughput.
#pragma once

#include "tune/trial.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

class workload_trial final : public trial {
 public:
  workload_trial(const workloads::workload& which, const workloads::parameters& values, const workloads::plan& how)
      : which_(which), values_(values), how_(how) {}

  /// The candidate is the name of a lock that can run the workload. A run ends by its plan: there is no time limit. It
  /// fails if the workload's check of its own result fails.
  measured run(const configuration& config, double timeout_seconds) override;

 private:
  const workloads::workload& which_;
  const workloads::parameters values_;
  const workloads::plan how_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
