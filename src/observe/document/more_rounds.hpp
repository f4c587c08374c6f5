// SPDX-License-Identifier: Apache-2.0
// More rounds for undecided claims.
#pragma once

#include <cstddef>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// A claim that is undecided after the requested rounds gets more: at most this many times as many in all.
inline constexpr unsigned max_round_factor = 4;

/// Chooses which points of a measurement get another series of rounds. Each series has as many rounds as were requested
/// at first. A claim may be checked up to four times, so its interval covers a little less than 95 %.
class more_rounds {
 public:
  explicit more_rounds(std::size_t points);

  /// Call it after each series, with the claims of all rounds so far. Returns the points to measure in the next series,
  /// ascending: those from which undecided claims were computed. Empty: all claims are decided, or max_round_factor is
  /// reached. A point that was left out of a series gets no further one. So the i-th value of each point is from the
  /// i-th round, and two points share the rounds of the one that has fewer.
  const std::vector<std::size_t>& next(const std::vector<claim>& claims);

 private:
  std::vector<std::size_t> chosen_;
  unsigned series_ = 1;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
