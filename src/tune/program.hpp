// SPDX-License-Identifier: Apache-2.0
// A program as a trial: run unchanged, or under the preloaded library with a policy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/launch.hpp"
#include "launch/machine_load.hpp"
#include "tune/doubts.hpp"
#include "tune/fairness.hpp"
#include "tune/metric.hpp"
#include "tune/policies.hpp"
#include "tune/trial.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

class program_trial final : public trial {
 public:
  /// Candidates are `unmodified` (without the preloaded library), names of policies and policy files, the reference
  /// first. Throws policy::policy_error for those that cannot be read. Without a metric the value of a run is its wall
  /// time in seconds. `input` is a file that each run reads; none: runs have nothing to read.
  program_trial(std::vector<std::string> command, std::optional<metric> number,
                const std::vector<std::string>& candidates, std::optional<std::string> input = {});

  /// A run fails when the program does not end with status 0, or takes too long, or the metric finds nothing. It also
  /// fails when the program reads its input, while that stands at this process' standard input, which no run can have.
  /// Throws launch::cannot_start.
  measured run(const configuration& config, double timeout_seconds) override;

  /// What `config` means; none for the unmodified program. Requires: its candidate was given to the constructor.
  std::optional<policy::policy_set> policy_of(const configuration& config) const { return policies_.of(config); }

  bool interrupted() const noexcept { return interrupted_; }  ///< this process got a signal while the program ran
  unsigned threads() const noexcept { return threads_; }      ///< the maximum that a run was seen to have; at least 1
  std::vector<std::string> warnings() const { return doubts_.sentences(); }
  std::string crowd() const { return launch::crowd_words(wall_s_, own_s_, others_s_); }  ///< of all runs

 private:
  measured judged(const launch::result& ended) const;

  std::vector<std::string> command_;
  std::optional<metric> number_;
  std::optional<std::string> input_;
  policies policies_;
  doubts doubts_;
  launch::launcher launcher_;
  bool interrupted_ = false;
  unsigned threads_ = 1;
  double wall_s_ = 0;  // of all runs, with the next two
  double own_s_ = 0;   // CPU time
  double others_s_ = 0;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
