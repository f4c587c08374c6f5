// SPDX-License-Identifier: Apache-2.0
// A comparison of configurations, which run against each other in interleaved rounds. Each round runs every
// configuration once, so that a disturbance of the machine hits all alike. The order rotates by one each round (A B C,
// B C A, C A B, ...), so that none always runs first.
//
// The leader is the configuration that beats the reference and all others that do, by the median of their ratios by
// round. If three beat each other in a circle, it is the last of them. Ratios to the reference alone would not do. If
// the reference is bad, its noise is the greatest of all, and would decide between the others.
//
// The losers leave early. After each round from the 4th on, every challenger is compared with the leader by the
// one-sided sign test over their ratios by round. If the challenger is worse with p < 0.05, it is dropped. (W. J.
// Conover, Practical Nonparametric Statistics, 3rd ed., section 3.4. As the test is exact, the earliest round is the
// 5th: 5 of 5 rounds lost, p = 1/32.) The test is repeated each round, and the leader comes from the same rounds. So a
// single drop is less sure than 95 %. The cost may be a better configuration that is missed. A gain is never claimed
// from these rounds (engine.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tune/fairness.hpp"
#include "tune/trial.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

enum class arm_status : std::uint8_t {
  running,
  dropped,
  failed,
  refused,  ///< most of its rounds were bad (fairness.hpp)
};

/// One arm of a comparison: a configuration with its results.
struct arm {
  configuration config;
  std::vector<double> values = {};  ///< by round; an arm that left has fewer
  arm_status status = arm_status::running;
  unsigned ended_in = 0;              ///< the round in which it left, from 1
  std::string reason = {};            ///< of its failure or refusal
  std::vector<site_seen> sites = {};  ///< all its runs added up
  fairness_record fairness = {};      ///< of the reference: its run that counts, compared with itself
};

/// The progress of a run, for people.
struct progress {
  std::string phase;
  unsigned round = 0;  ///< from 1; 0 before the first
  unsigned rounds = 0;
  std::string running;  ///< the configuration that runs now
  unsigned left = 0;    ///< how many configurations are still in
};

/// How long everything is expected to take without a time limit, judging by one run.
struct expected_time {
  double run_seconds = 0;
  double min_seconds = 0;  ///< if no site is tried
  double max_seconds = 0;  ///< if as many are tried as possible; still longer if gains are close to each other
};

/// What the engine needs of the world around it; a test has its own.
struct environment {
  std::function<double()> now;  ///< seconds since any moment
  std::function<bool()> stop;   ///< the user wants it to end
  std::function<void(const progress&)> report = [](const progress&) {};
  /// Called once, after the first run, if there is no time limit.
  std::function<void(const expected_time&)> expect = [](const expected_time&) {};
};

struct comparison_rules {
  std::string phase;
  observe::better way = observe::better::lower;
  unsigned rounds = 10;
  /// How many times as many rounds may follow while a question is open. With until_one_is_left: which of several that
  /// beat the reference is the best. Without: whether a leader that seems to beat it (sign test, p < 0.2) surely does.
  /// The question is asked only after each such block of rounds.
  unsigned extensions = 0;
  bool drop = true;
  bool until_one_is_left = false;  ///< ends once at most one challenger is left, besides the reference
  double deadline = 0;             ///< on environment::now; no round starts that would probably end later; 0: none
  double timeout_seconds = 0;      ///< of a single run
  /// What arms are compared with for fairness; none: they are not compared. If it is an arm of the comparison, that
  /// arm's runs are used. Otherwise it is run in addition in the first rounds_of_fair_reference rounds. Rounds without
  /// such a run use one of an earlier round.
  std::optional<configuration> fair_reference = {};
};

inline constexpr unsigned rounds_of_fair_reference = 5;

enum class comparison_end : std::uint8_t {
  complete,  ///< all rounds that were asked for, or nothing was left to decide, or the user stopped it
  time_up    ///< the deadline came before the rounds that were asked for; optional further rounds do not count
};

struct comparison_result {
  comparison_end end = comparison_end::complete;
  /// The sites of the runs of comparison_rules::fair_reference in addition to the arms, added up.
  std::vector<site_seen> reference_sites = {};
  unsigned reference_runs = 0;         ///< those that did not fail
  std::string reference_failure = {};  ///< why such a run failed
};

/// Runs the arms. The first is the reference, which is never dropped nor refused. An arm is refused if most of its
/// rounds are bad. That is checked after each round from the 4th on, and at the end. The comparison ends after the
/// rounds and extensions, or earlier:
///  - at the deadline, but one round is always run;
///  - when the reference fails, or no challenger is left;
///  - when the user stops it. A run that is interrupted then does not count.
comparison_result compare_arms(trial& runs, std::vector<arm>& arms, const comparison_rules& rules,
                               const environment& world);

/// An arm's ratios to another one by round, over the rounds that both ran; more than 1: the arm is better.
std::vector<double> round_ratios(const arm& one, const arm& other, observe::better way);

/// The leader among the running arms, see above. The first arm if none beats it or nothing was run.
std::size_t leader(const std::vector<arm>& arms, observe::better way);

/// The interval of the ratios lies above 1, and there are enough rounds to say so with 95 %.
bool surely_better(const arm& one, const arm& other, observe::better way);

/// Whether `other` would be dropped beside `one`: one-sided sign test with p < 0.05, from the 5th round on. A weaker
/// statement than surely_better().
bool would_drop(const arm& one, const arm& other, observe::better way);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
