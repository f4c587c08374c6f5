// SPDX-License-Identifier: Apache-2.0
// What the machine models imply by formula, without a simulation. A simulation has to give the same.
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

/// A cache to which random lines are written. `lines_each` is how many different lines of memory map to each set (0:
/// unlimited). Others take some ways of each set: a Poisson-distributed number with mean `co_resident_ways`.
struct cache_shape {
  unsigned sets = 1;
  unsigned ways = 1;
  unsigned lines_each = 0;
  double co_resident_ways = 0;
};

/// The chance that this many different random lines do not fit.
double overflow_chance(unsigned lines, const cache_shape& into) noexcept;

/// The chance that a timer of this frequency interrupts an attempt that begins at any time and takes `cycles`.
double timer_chance(double cycles, double mhz, double hertz) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
