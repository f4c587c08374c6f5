// SPDX-License-Identifier: Apache-2.0
// Simulated points beside the numbers that papers give.
#pragma once

#include <optional>
#include <vector>

#include "experiments/experiment.hpp"
#include "observe/document/document.hpp"

namespace txsync::inline TXSYNC_BACKEND::experiments {

/// What was simulated of an experiment: by variant, then by position. Points that were not simulated are not there.
struct results {
  results(const experiment& of, double clock_mhz)
      : mhz(clock_mhz), points(of.variants.size(), {of.along.positions.size(), std::optional<observe::point>{}}) {}

  double mhz;
  std::vector<std::vector<std::optional<observe::point>>> points;
};

/// The quantity of a point of `txsync sim`; nothing where the point has none (no attempts, say, have no abort rate).
std::optional<double> number_of(quantity what, const observe::point& one, double mhz);

enum class verdict : std::uint8_t { hit, miss, not_simulated };
/// "hit", "MISS" or "not simulated".
const char* to_string(verdict how) noexcept;

/// A fact beside what was simulated.
struct comparison {
  const fact* of = nullptr;
  std::optional<double> simulated;  ///< infinite: the curve never gets there
  double error = 0;                 ///< how far beyond the range that is expected, or from the one value
  bool in_points = false;           ///< the error is in percentage points; else in percent of the number
  verdict how = verdict::not_simulated;
};

/// Every fact of the experiment, in its order.
std::vector<comparison> compare(const experiment& of, const results& with);

/// A position as it is printed: "20", or its name.
std::string position_text(const axis& along, std::uint64_t position);
/// What a fact is about: "warm at 20 KiB written: abort rate".
std::string words_of(const experiment& of, const fact& one);
/// What is expected: "10", "30 to 50", "at most 2".
std::string expected_words(const range& of);
/// A number with as many digits as it needs.
std::string digits(double value);

}  // namespace txsync::inline TXSYNC_BACKEND::experiments
