// SPDX-License-Identifier: Apache-2.0
// Statistics of repeated measurements: few, robust, and without assumptions about the distribution. Timings on shared
// machines have long tails, so nothing here uses a mean or a variance of raw values.
//
// Methods and their sources:
// - interval of a median: order statistics. The rank comes from the binomial distribution with p = 1/2. The interval
//   holds for every continuous distribution. (W. J. Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2.)
// - ratio of two subjects: repetitions were interleaved (A B A B), so the i-th values of both saw the same
//   disturbances. Each round gives a ratio. The result is the median of these ratios, with its order-statistic
//   interval.
// - whether one is worse than the other: the one-sided sign test over the ratios by round. (Conover, section 3.4.)
// - geometric mean over cells: of the cells' median ratios (P. Fleming, J. Wallace, How not to lie with statistics,
//   CACM 29(3), 1986). Its interval is a stratified percentile bootstrap: the rounds of each cell are drawn anew with
//   replacement (B. Efron, R. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13). It covers the error of
//   the measurement, not what other cells would have given.
//
// All functions are pure, take values in any unit and throw std::invalid_argument on values that break a "Requires".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// The middle of repeated values (for an even number, the mean of the two in the middle), and their range.
struct summary {
  double median = 0;
  double low = 0;
  double high = 0;
};

/// Requires: at least one value, all finite.
summary summarize(std::span<const double> values);

/// How evenly the threads had their turns: the fewest operations of a thread divided by the most. It is the median over
/// the repetitions. 1 is even; 0: one thread made no progress. Requires: both have the same number of values, at least
/// one.
double fairness(std::span<const std::uint64_t> fewest, std::span<const std::uint64_t> most);

/// The operations of the slowest thread, divided by an equal share: 1 is fair; 0: it made no operation. 1 if there were
/// no operations. Requires: at least one thread.
double slowest_share(std::span<const std::uint64_t> operations_by_thread);

/// The fraction of all operations that the busier half of the threads did: 0.5 is fair; at 1 the others did none. If
/// the number of threads is odd, the one in the middle counts half. 0.5 if there were no operations. Requires: at least
/// one thread. (D. Dice, Malthusian Locks, EuroSys 2017, and the FlexGuard paper, SOSP 2025, call it the fairness
/// factor.)
double busier_half_share(std::span<const std::uint64_t> operations_by_thread);

/// A median and an interval that covers the true one with at least 95 %, if there are enough values. `coverage` is the
/// actual probability. With up to 5 values even the whole range covers less: 5 values 0.9375, 2 values 0.5, 1 value 0.
struct interval {
  double median = 0;
  double low95 = 0;
  double high95 = 0;
  double coverage = 0;
};

/// Requires: at least one value, all finite.
interval median_interval(std::span<const double> values);

/// Which direction of a metric is good: higher for throughput, lower for latency.
enum class better : std::uint8_t { higher, lower };

/// The limit of ratios, in both directions. A round in which a lock made no progress (0 operations) is a measurement,
/// too. It neither prevents a comparison nor dominates a mean of logarithms.
inline constexpr double max_ratio = 1000;

/// The ratios by round; more than 1 means that ours is better. It is ours/theirs, or theirs/ours if lower is better;
/// 0/0 is 1. Each is between 1/max_ratio and max_ratio. Requires: as many of ours as of theirs, at least one,
/// all finite and not negative.
std::vector<double> ratios(std::span<const double> ours, std::span<const double> theirs, better way = better::higher);

/// The median of ratios() and its interval. Requires: as for ratios().
interval ratio_interval(std::span<const double> ours, std::span<const double> theirs, better way = better::higher);

/// The sign test for ratios below 1. It returns the probability that at least as many would lie below 1 if each were as
/// likely to lie above it. Ratios of exactly 1 are left out; if none remains, the result is 1. 5 of 5 below: 0.03125.
/// Requires: all finite and greater than 0.
double sign_test_below_one(std::span<const double> ratios);

/// The geometric mean of the cells' median ratios. `median` is that mean; `coverage` is 0.95. If no cell has more than
/// one ratio, there is nothing to resample: `coverage` is 0, and the interval is the point. The same seed gives the
/// same interval on every machine. Cost: 5,000 draws of all values. Requires: at least one cell, none empty, all values
/// finite and greater than 0.
interval geometric_mean(std::span<const std::vector<double>> ratios_by_cell, std::uint64_t seed = 1);

/// The values of one peer, in the order of the rounds.
struct peer_values {
  std::string_view name;
  std::span<const double> values;
};

/// The result of compare_to_best_peer().
struct peer_comparison {
  std::size_t peer = 0;        ///< index of the best peer
  std::string_view peer_name;  ///< its name, as given
  interval ratio;              ///< ours to the best peer over the even rounds
  std::vector<double> ratios;  ///< the same by round; geometric_mean() takes it as a cell
};

/// Compares ours with the best of several peers, without the winner's curse. The median over the odd rounds (the 1st,
/// 3rd, ...) decides which peer is best; the comparison uses only the even ones. Of equal peers the first wins.
/// Requires: at least one peer, at least 2 rounds, the same number of rounds for all, all values finite and not
/// negative.
peer_comparison compare_to_best_peer(std::span<const double> ours, std::span<const peer_values> peers,
                                     better way = better::higher);

/// What a measurement says about a goal, from good to bad.
enum class outcome : std::uint8_t { holds, undecided, missed };

/// "holds", "undecided" or "missed".
constexpr const char* to_string(outcome one) noexcept {
  return one == outcome::holds ? "holds" : one == outcome::undecided ? "undecided" : "missed";
}

/// The rule for every goal. Missed: the whole interval lies on the wrong side of the goal. Holds: the median reaches
/// the goal. Undecided: the median does not reach the goal, but the interval does. `way` is the good side of the goal:
/// `lower` for a cost.
constexpr outcome judge(const interval& measured, double goal, better way = better::higher) noexcept {
  const bool higher = way == better::higher;
  if (higher ? measured.high95 < goal : measured.low95 > goal) return outcome::missed;
  const bool reached = higher ? measured.median >= goal : measured.median <= goal;
  return reached ? outcome::holds : outcome::undecided;
}

/// The same for a value without an interval: a count, a simulated number, a word.
constexpr outcome judge(bool reached) noexcept { return reached ? outcome::holds : outcome::missed; }

/// For a goal that several values have to reach; the worst of them decides. `one` is worse than `other` if its outcome
/// is worse, or if its outcome is the same and its median is worse.
constexpr bool is_worse(const interval& one, const interval& other, double goal, better way = better::higher) noexcept {
  const outcome of_one = judge(one, goal, way);
  const outcome of_other = judge(other, goal, way);
  if (of_one != of_other) return of_one > of_other;
  return way == better::higher ? one.median < other.median : one.median > other.median;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
