// SPDX-License-Identifier: Apache-2.0
// A program that txsync-c++ has built, as a trial: run on a simulated machine, with its named sites under a policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/model.hpp"
#include "tune/metric.hpp"
#include "tune/policies.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

/// What such a machine offers for policies.
offered_attempts offered_by(const sim::machine_model& model);

struct simulated_program {
  std::string path;
  std::vector<std::string> arguments;
  sim::machine_model model;
  std::uint64_t seed = 1;  ///< of the first run; each further run has the next seed
};

class simulated_trial final : public trial {
 public:
  /// Candidates are as for program_trial. Without a metric the value of a run is its whole simulated time in seconds. A
  /// run has nothing to read. `stop` is asked ten times a second whether the run is to end. Throws
  /// policy::policy_error.
  simulated_trial(simulated_program program, std::optional<metric> number, const std::vector<std::string>& candidates,
                  bool (*stop)() noexcept);

  /// Runs fail as those of program_trial do, and if the simulation cannot go on (deadlock, crash). Each seed is another
  /// run. So rounds differ as much as chance on that machine makes them differ. The threads' shares of the turns at a
  /// site are not counted.
  measured run(const configuration& config, double timeout_seconds) override;
  measured run(const std::optional<policy::policy_set>& policy, double timeout_seconds);

  std::optional<policy::policy_set> policy_of(const configuration& config) const { return policies_.of(config); }
  unsigned threads() const noexcept { return threads_; }  ///< the maximum that a run had at one time; at least 1

 private:
  simulated_program program_;
  std::optional<metric> number_;
  policies policies_;
  bool (*stop_)() noexcept;
  unsigned threads_ = 1;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
