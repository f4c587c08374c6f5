// SPDX-License-Identifier: Apache-2.0
// Simulated points compared with the papers' numbers.
#pragma once

#include <optional>
#include <vector>

#include "experiments/experiment.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

/// What was simulated of an experiment: by variant, then by position. A point that was not simulated is empty.
struct results {
  results(const experiment& of, double clock_mhz)
      : mhz(clock_mhz), points(of.variants.size(), {of.along.positions.size(), std::optional<observe::point>{}}) {}

  double mhz;
  std::vector<std::vector<std::optional<observe::point>>> points;
};

/// The quantity of a simulated point, of several runs their median; nothing if the point has none (without attempts, for
/// example, no abort rate).
std::optional<double> number_of(quantity what, const observe::point& one, double mhz);

enum class verdict : std::uint8_t { hit, miss, not_simulated };
/// "hit", "MISS" or "not simulated".
const char* to_string(verdict how) noexcept;

/// A fact compared with the simulated number.
struct comparison {
  const fact* of = nullptr;
  std::optional<double> simulated;  ///< infinite: the curve never reaches the level
  double error = 0;                 ///< the distance to the expected range, or to the one expected value
  bool in_points = false;           ///< the error is in percentage points; otherwise in percent of the number
  verdict how = verdict::not_simulated;
};

/// Compares every fact of the experiment, in its order.
std::vector<comparison> compare(const experiment& of, const results& with);

/// A position as printed: "20", or its name.
std::string position_text(const axis& along, std::uint64_t position);
/// What a fact describes: "warm at 20 KiB written: abort rate".
std::string words_of(const experiment& of, const fact& one);
/// The expected range: "10", "30 to 50", "at most 2".
std::string expected_words(const range& of);
/// A number with as many digits as needed.
std::string digits(double value);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
