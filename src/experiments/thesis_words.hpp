// SPDX-License-Identifier: Apache-2.0
// Words of the experiments after the thesis's section 3.3: the locks that it compares, and the orders it finds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/experiment.hpp"

namespace txsync::inline TXSYNC_BACKEND::experiments {

/// The locks of 3.3 (its POSIX is glibc's mutex, which does not spin), and the elision of txsync (the thesis has no
/// attempts that fall back on a lock, but for HLE's), with the same settings and something behind their names.
inline std::vector<variant> locks_of_the_thesis(unsigned threads, const std::vector<setting>& settings = {},
                                                const std::string& suffix = {}) {
  std::vector<variant> made;
  for (const auto& [name, subject] : {std::pair{"POSIX", "sleeping"},
                                      {"TAS", "tas_t"},
                                      {"HLE", "hle_tas_t"},
                                      {"elision only", "rtm_only"},
                                      {"RTM", "elided_tatas"}}) {
    made.push_back({name + suffix, subject, threads, settings});
  }
  return made;
}

/// A throughput over another's at the same position.
inline fact over(const std::string& variant, const std::string& beside, std::uint64_t at, range expected,
                 const std::string& source) {
  return {.variant = variant,
          .at = at,
          .expected = expected,
          .source = source,
          .what = quantity::throughput,
          .read = reading::ratio,
          .beside = beside};
}

/// A throughput over that of the same lock elsewhere.
inline fact growth(const std::string& variant, std::uint64_t at, std::uint64_t from, range expected,
                   const std::string& source) {
  fact made = over(variant, variant, at, expected, source);
  made.beside_at = from;
  return made;
}

inline fact share(const std::string& variant, std::uint64_t at, quantity what, double percent,
                  const std::string& source) {
  return {.variant = variant, .at = at, .expected = exactly(percent), .source = source, .what = what};
}

/// The same number as an answer to the line of the issue that asks for 3.3.
inline fact answering(fact one) {
  one.answers = "C1-2";
  return one;
}

}  // namespace txsync::inline TXSYNC_BACKEND::experiments
