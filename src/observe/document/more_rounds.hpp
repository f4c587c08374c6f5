// SPDX-License-Identifier: Apache-2.0
// More rounds for undecided claims.
#pragma once

#include <cstddef>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::inline TXSYNC_BACKEND::observe {

/// A claim that is undecided after the rounds that were asked for gets more: in all at most this many times as many.
inline constexpr unsigned max_round_factor = 4;

/// Chooses which points of a measurement get another series of rounds. Each series has as many rounds as were asked for
/// at first. Looking at the same claim up to four times makes its interval a little less sure than 95 %.
class more_rounds {
 public:
  explicit more_rounds(std::size_t points);

  /// Call after each series, with the claims of all rounds so far. The points to measure in the next one, ascending:
  /// those that undecided claims were computed from. Empty: all claims are decided, or max_round_factor is reached.
  /// A point that was left out of a series gets no further one: so the i-th value of each point is of the i-th round,
  /// and two points share the rounds of the one that has fewer.
  const std::vector<std::size_t>& next(const std::vector<claim>& claims);

 private:
  std::vector<std::size_t> chosen_;
  unsigned series_ = 1;
};

}  // namespace txsync::inline TXSYNC_BACKEND::observe
