// SPDX-License-Identifier: Apache-2.0
// Choices that run against each other in interleaved rounds: A B C, B C A, C A B, ... Each round runs every choice
// once, so that a disturbance of the machine meets all alike; the order turns by one each round, so that none always
// runs first.
//
// The leader is the choice that beats the reference and all others that do, by the median of their ratios by round;
// where three beat each other in a circle, the last of them. Ratios to the reference alone would not do: where that is
// a bad choice its own noise, the greatest of all, would decide between the others.
//
// The losers leave early. After each round from the 4th on, every challenger is held against the leader: when the
// one-sided sign test over their ratios by round says that it is worse with p < 0.05, it is dropped. (W. J. Conover,
// Practical Nonparametric Statistics, 3rd ed., section 3.4; as the test is exact, the earliest round is the 5th: 5 of 5
// rounds lost, p = 1/32.) The test is asked again each round, and the leader comes from the same rounds, so a single
// drop is less sure than 95 %. What that can cost is a better choice missed; a gain is never claimed from these rounds
// (engine.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tune/fairness.hpp"
#include "tune/trial.hpp"

namespace txsync::inline TXSYNC_BACKEND::tune {

enum class lane_status : std::uint8_t {
  running,
  dropped,
  failed,
  refused,  ///< most of its rounds were bad (fairness.hpp)
};

/// One choice in a contest.
struct lane {
  choice what;
  std::vector<double> values = {};  ///< by round; a lane that left has fewer
  lane_status status = lane_status::running;
  unsigned ended_in = 0;              ///< the round in which it left, from 1
  std::string reason = {};            ///< of its failure or refusal
  std::vector<site_seen> sites = {};  ///< all its runs added up
  fairness_record fairness = {};      ///< of the reference: of the run that counts for it, compared with itself
};

/// Where a run stands, for people.
struct progress {
  std::string phase;
  unsigned round = 0;  ///< from 1; 0 before the first
  unsigned rounds = 0;
  std::string running;  ///< the choice that runs now
  unsigned left = 0;    ///< choices that are still in
};

/// How long all of it is expected to take without a time limit, by one run.
struct expected_time {
  double run_seconds = 0;
  double min_seconds = 0;  ///< where no site is tried
  double max_seconds = 0;  ///< where as many are tried as may be; longer still where gains are close to each other
};

/// How the engine sees the world; a test has its own.
struct surroundings {
  std::function<double()> now;  ///< seconds since any moment
  std::function<bool()> stop;   ///< the user wants it to end
  std::function<void(const progress&)> tell = [](const progress&) {};
  /// Called once, after the first run, where there is no time limit.
  std::function<void(const expected_time&)> expect = [](const expected_time&) {};
};

struct contest_rules {
  std::string phase;
  observe::better way = observe::better::lower;
  unsigned rounds = 10;
  /// As many times as many rounds may follow while something is open: with until_one_is_left, which of several that
  /// beat the reference is the best; without, whether a leader that seems to beat it (sign test, p < 0.2) surely does.
  /// It is asked after each such block only.
  unsigned extensions = 0;
  bool drop = true;
  bool until_one_is_left = false;  ///< ends once at most one challenger is left, and the reference
  double deadline = 0;             ///< of surroundings::now; no round starts that would likely end later; 0: none
  double timeout_seconds = 0;      ///< of a single run
  /// What lanes are compared with for fairness; none: they are not compared. If it is a lane of the contest, that
  /// lane's runs are used. Otherwise it is run in addition in the first rounds_of_fair_reference rounds. Rounds without
  /// such a run use one of an earlier round.
  std::optional<choice> fair_reference = {};
};

inline constexpr unsigned rounds_of_fair_reference = 5;

enum class contest_end : std::uint8_t {
  complete,  ///< all rounds that were asked for, or nothing was left to decide, or the user stopped it
  time_up    ///< the deadline came before the rounds that were asked for; those that only may follow do not count
};

struct contest_result {
  contest_end end = contest_end::complete;
  /// Of the runs of contest_rules::fair_reference in addition to the lanes, added up.
  std::vector<site_seen> reference_sites = {};
  unsigned reference_runs = 0;         ///< that did not fail
  std::string reference_failure = {};  ///< why such a run failed
};

/// Runs the lanes; the first is the reference, which is never dropped nor refused. A lane is refused when most
/// of its rounds are bad, which is checked after each round from the 4th on and at the end. Ends after the rounds and
/// extensions, or earlier: at the deadline (one round is always run), when the reference fails, when no challenger is
/// left, or when the user stops it. The run that is interrupted then does not count.
contest_result compete(trial& runs, std::vector<lane>& lanes, const contest_rules& rules, const surroundings& world);

/// A lane's ratios to another by round, over the rounds that both ran; more than 1: the lane is better.
std::vector<double> round_ratios(const lane& one, const lane& other, observe::better way);

/// The leader among the running lanes, see above; the first itself where none beats it or nothing was run.
std::size_t leader(const std::vector<lane>& lanes, observe::better way);

/// The interval of the ratios lies above 1, and there are rounds enough to say so with 95 %.
bool surely_better(const lane& one, const lane& other, observe::better way);

/// What would be dropped beside it: one-sided sign test with p < 0.05, from the 5th round on. Less than
/// surely_better().
bool would_drop(const lane& one, const lane& other, observe::better way);

}  // namespace txsync::inline TXSYNC_BACKEND::tune
