// SPDX-License-Identifier: Apache-2.0
// What the experiments after the thesis's section 3.3 share: the locks that it compares, and the orders that it finds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/experiment.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

/// The locks of 3.3, all with the same settings and a suffix after their names. Its POSIX is glibc's mutex, which does
/// not spin. txsync's elision is added, because the thesis's attempts never fall back on a lock, except in HLE.
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

/// A throughput relative to that of another variant at the same position.
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

/// A throughput relative to that of the same lock at another position.
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

/// The same number as an answer to the line that asks for 3.3.
inline fact answering(fact one) {
  one.answers = "C1-2";
  return one;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
