// SPDX-License-Identifier: Apache-2.0
// What the machine models say without a simulation, by formula: what a simulation of them has to give.
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::experiments {

/// A cache that random lines are written to: how many different lines of the memory each set has (0: no end), and how
/// many of its ways others take, Poisson-distributed with that mean.
struct cache_shape {
  unsigned sets = 1;
  unsigned ways = 1;
  unsigned lines_each = 0;
  double taken_ways = 0;
};

/// The chance that so many different random lines do not fit.
double overflow_chance(unsigned lines, const cache_shape& into) noexcept;

/// The chance that a timer of that rate meets an attempt of so many cycles that begins at any time.
double timer_chance(double cycles, double mhz, double hertz) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::experiments
