// SPDX-License-Identifier: Apache-2.0
#include "experiments/closed_forms.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

/// The chance that others leave at least `held` ways of a set.
double chance_of_room(unsigned held, unsigned ways, double co_resident_ways) noexcept {
  if (held > ways) return 0;
  double exactly = std::exp(-co_resident_ways);
  double sum = 0;
  for (unsigned taken = 0; taken <= ways - held; ++taken) {
    sum += exactly;
    exactly *= co_resident_ways / (taken + 1);
  }
  return sum;
}

}  // namespace

// The number of ways to choose n lines so that each set has room is the coefficient at x^n of a product of series. Each
// set has the series sum(choose(lines_each, k) room(k) x^k), or sum(room(k) x^k / k!) if its lines are unlimited.
// Divided by the number of all ways to choose n lines, it is the chance that they fit. The numbers exceed a double's
// range.
double overflow_chance(unsigned lines, const cache_shape& into) noexcept {
  std::vector<long double> of_one_set(into.ways + 1);
  long double choices = 1;
  for (unsigned held = 0; held <= into.ways; ++held) {
    if (held != 0) choices *= (into.lines_each != 0 ? into.lines_each - held + 1.0L : 1.0L) / held;
    of_one_set[held] = choices * chance_of_room(held, into.ways, into.co_resident_ways);
  }
  std::vector<long double> series(lines + 1, 0.0L);
  series[0] = 1;
  for (unsigned set = 0; set < into.sets; ++set) {
    for (unsigned used = lines + 1; used-- != 0;) {
      long double sum = 0;
      for (unsigned here = 0; here <= std::min(used, into.ways); ++here) sum += series[used - here] * of_one_set[here];
      series[used] = sum;
    }
  }
  const long double all_lines = static_cast<long double>(into.lines_each) * into.sets;
  long double fits = series[lines];
  for (unsigned line = 0; line < lines; ++line) {
    fits *= (line + 1.0L) / (into.lines_each != 0 ? all_lines - line : static_cast<long double>(into.sets));
  }
  return static_cast<double>(1 - fits);
}

double timer_chance(double cycles, double mhz, double hertz) noexcept {
  return std::min(1.0, cycles / (mhz * 1e6) * hertz);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
