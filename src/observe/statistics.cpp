// SPDX-License-Identifier: Apache-2.0
#include "observe/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {
namespace {

constexpr int bootstrap_draws = 5000;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void require_finite(std::span<const double> values) {
  require(!values.empty(), "statistics of no values");
  for (double value : values) require(std::isfinite(value), "a value is not finite");
}

void require_positive(std::span<const double> values) {
  require_finite(values);
  for (double value : values) require(value > 0, "a value is not greater than 0");
}

void require_not_negative(std::span<const double> values) {
  require_finite(values);
  for (double value : values) require(value >= 0, "a value is negative");
}

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double median_of(std::span<const double> values) { return median_of_sorted(sorted_copy(values)); }

/// The values of every second round: the 1st, 3rd, ... for `first` 0, the 2nd, 4th, ... for 1.
std::vector<double> every_second(std::span<const double> values, std::size_t first) {
  std::vector<double> chosen;
  for (std::size_t i = first; i < values.size(); i += 2) chosen.push_back(values[i]);
  return chosen;
}

double bounded_ratio(double above, double below) {
  if (above == below) return 1;
  // This holds for `below` 0, too: an infinite ratio is bounded like any other.
  return below == 0 ? max_ratio : std::clamp(above / below, 1 / max_ratio, max_ratio);
}

/// log P(X = k) of n fair coins. It uses lgamma, because powers of 1/2 underflow even for moderate counts.
double log_binomial(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0);
}

/// How many values to leave out at each end so that the interval still covers 95 %, and its exact coverage.
struct trimmed {
  std::size_t at_each_end = 0;
  double coverage = 0;
};

trimmed trim_for_95(std::size_t count) {
  const double n = static_cast<double>(count);
  double outside = std::exp(log_binomial(n, 0));  // the chance that the true median lies beyond one end of the range
  trimmed result{0, std::max(0.0, 1 - 2 * outside)};
  for (std::size_t k = 1; 2 * k < count; ++k) {
    outside += std::exp(log_binomial(n, static_cast<double>(k)));
    if (2 * outside > 0.05) break;
    result = {k, 1 - 2 * outside};
  }
  return result;
}

/// An index below `count`. Libraries differ in the distributions of <random>; this is the same everywhere.
std::size_t draw(std::mt19937_64& random, std::size_t count) {
  return static_cast<std::size_t>(((random() >> 32) * count) >> 32);
}

/// The logarithm of the geometric mean of the cells' medians, with each cell resampled.
double drawn_log_mean(std::span<const std::vector<double>> cells, std::mt19937_64& random, std::vector<double>& room) {
  double sum = 0;
  for (const std::vector<double>& cell : cells) {
    room.resize(cell.size());
    for (double& value : room) value = cell[draw(random, cell.size())];
    std::sort(room.begin(), room.end());
    sum += std::log(median_of_sorted(room));
  }
  return sum / static_cast<double>(cells.size());
}

}  // namespace

summary summarize(std::span<const double> values) {
  require_finite(values);
  const std::vector<double> sorted = sorted_copy(values);
  return {median_of_sorted(sorted), sorted.front(), sorted.back()};
}

double fairness(std::span<const std::uint64_t> fewest, std::span<const std::uint64_t> most) {
  require(fewest.size() == most.size(), "fewest and most of unequal numbers of repetitions");
  std::vector<double> parts;
  parts.reserve(fewest.size());
  for (std::size_t i = 0; i < fewest.size(); ++i) {
    parts.push_back(most[i] == 0 ? 0 : static_cast<double>(fewest[i]) / static_cast<double>(most[i]));
  }
  return summarize(parts).median;
}

double slowest_share(std::span<const std::uint64_t> operations_by_thread) {
  require(!operations_by_thread.empty(), "no threads");
  std::uint64_t all = 0;
  for (const std::uint64_t one : operations_by_thread) all += one;
  if (all == 0) return 1;
  const auto fewest = static_cast<double>(*std::min_element(operations_by_thread.begin(), operations_by_thread.end()));
  return fewest * static_cast<double>(operations_by_thread.size()) / static_cast<double>(all);
}

double busier_half_share(std::span<const std::uint64_t> operations_by_thread) {
  require(!operations_by_thread.empty(), "no threads");
  std::vector<std::uint64_t> sorted(operations_by_thread.begin(), operations_by_thread.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double all = 0;
  double busier = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto one = static_cast<double>(sorted[i]);
    all += one;
    if (2 * i + 1 < sorted.size()) busier += one;
    if (2 * i + 1 == sorted.size()) busier += one / 2;
  }
  return all == 0 ? 0.5 : busier / all;
}

interval median_interval(std::span<const double> values) {
  require_finite(values);
  const std::vector<double> sorted = sorted_copy(values);
  const trimmed trim = trim_for_95(sorted.size());
  return {median_of_sorted(sorted), sorted[trim.at_each_end], sorted[sorted.size() - 1 - trim.at_each_end],
          trim.coverage};
}

std::vector<double> ratios(std::span<const double> ours, std::span<const double> theirs, better way) {
  require(ours.size() == theirs.size(), "a ratio by rounds needs as many values of ours as of theirs");
  require_not_negative(ours);
  require_not_negative(theirs);
  std::vector<double> result(ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    result[i] = way == better::higher ? bounded_ratio(ours[i], theirs[i]) : bounded_ratio(theirs[i], ours[i]);
  }
  return result;
}

interval ratio_interval(std::span<const double> ours, std::span<const double> theirs, better way) {
  return median_interval(ratios(ours, theirs, way));
}

double sign_test_below_one(std::span<const double> ratios) {
  unsigned below = 0;
  unsigned above = 0;
  for (const double ratio : ratios) {
    require(std::isfinite(ratio) && ratio > 0, "a ratio is not finite and greater than 0");
    if (ratio < 1) ++below;
    if (ratio > 1) ++above;
  }
  const double n = below + above;
  double probability = 0;
  for (unsigned k = below; k <= below + above; ++k) probability += std::exp(log_binomial(n, k));
  return std::min(probability, 1.0);
}

interval geometric_mean(std::span<const std::vector<double>> ratios_by_cell, std::uint64_t seed) {
  require(!ratios_by_cell.empty(), "the geometric mean of no cells");
  double sum = 0;
  bool single = true;
  for (const std::vector<double>& cell : ratios_by_cell) {
    require_positive(cell);
    sum += std::log(median_of(cell));
    single = single && cell.size() == 1;
  }
  const double mean = std::exp(sum / static_cast<double>(ratios_by_cell.size()));
  if (single) return {mean, mean, mean, 0};

  std::mt19937_64 random(seed);
  std::vector<double> room;
  std::vector<double> drawn(bootstrap_draws);
  for (double& value : drawn) value = drawn_log_mean(ratios_by_cell, random, room);
  std::sort(drawn.begin(), drawn.end());
  constexpr int tail = bootstrap_draws / 40;  // 2.5 %
  return {mean, std::exp(drawn[tail]), std::exp(drawn[bootstrap_draws - 1 - tail]), 0.95};
}

peer_comparison compare_to_best_peer(std::span<const double> ours, std::span<const peer_values> peers, better way) {
  require(!peers.empty(), "a comparison with no peers");
  require(ours.size() >= 2, "a comparison by odd and even rounds needs at least 2 rounds");
  peer_comparison result;
  double best = 0;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    require(peers[i].values.size() == ours.size(), "a peer has another number of rounds than ours");
    require_not_negative(peers[i].values);
    const double middle = median_of(every_second(peers[i].values, 0));
    if (i == 0 || (way == better::higher ? middle > best : middle < best)) {
      best = middle;
      result.peer = i;
    }
  }
  result.peer_name = peers[result.peer].name;
  result.ratios = observe::ratios(every_second(ours, 1), every_second(peers[result.peer].values, 1), way);
  result.ratio = median_interval(result.ratios);
  return result;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
