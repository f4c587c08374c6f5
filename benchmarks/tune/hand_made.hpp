// SPDX-License-Identifier: Apache-2.0
// What the tuner found beside the policies that somebody who knows would write by hand, in fresh interleaved rounds.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "launch/launch.hpp"
#include "observe/document/document.hpp"
#include "policy/policy.hpp"
#include "tune/metric.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// What the tuner has to reach of the best policy made by hand.
inline constexpr double goal_of_best = 0.95;

struct subject {
  std::string name;
  policy::policy_set policies;
  observe::subject_kind kind = observe::subject_kind::peer;
  std::vector<double> values = {};
};

/// Everything as built in, but for the site.
policy::policy_set with_site(const std::string& site, policy::packed choices);

/// Runs a program under a policy in that round, from 0; higher is better. Throws std::runtime_error.
using run_once = std::function<double(const policy::policy_set&, unsigned round)>;

/// The order turns by one each round.
void measure(std::vector<subject>& subjects, unsigned rounds, const run_once& run);

/// A program that prints the number.
class program_runs {
 public:
  program_runs(std::vector<std::string> command, const char* metric_regex)
      : command_(std::move(command)), metric_(metric_regex) {}
  double operator()(const policy::policy_set& policies);

 private:
  std::vector<std::string> command_;
  tune::metric metric_;
  launch::launcher launcher_;
};

/// A point for each subject, like `common` but for what is the subject's. Answers the number of the first.
std::size_t put_points(observe::document& into, const std::vector<subject>& subjects, const observe::point& common);

/// The first subject is what the tuner found, the next `by_hand` ones are policies made by hand. `what` has id and
/// words, to which the name of the best one is added; `first_point` is put_points()'.
observe::claim claim_best(observe::claim what, const std::vector<subject>& subjects, std::size_t by_hand,
                          std::size_t first_point);

/// `heading`: the unit.
void print(const char* heading, const std::vector<subject>& subjects, std::FILE* out);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
