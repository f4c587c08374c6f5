// SPDX-License-Identifier: Apache-2.0
// Which policies let a thread starve. Each run of a configuration is compared with a run of the reference in the same
// round. The criteria are the longest single wait for a lock, and the slowest thread's share of the turns at a site
// (observe/turns.hpp). A configuration is refused if most of its rounds are bad: a gain that starves a thread is no
// gain. Barriers are left out, and spin locks if the reference did not count any (`libc` does not).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tune/trial.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

/// A wait is too long if it exceeds both max_wait_ns and max_wait_factor times the reference's longest wait.
inline constexpr std::uint64_t max_wait_ns = 5'000'000;
inline constexpr std::uint64_t max_wait_factor = 4;
/// A thread starves if it has less than this part of its share under the reference.
inline constexpr double min_share_kept = 0.5;

/// A run of a configuration compared with a run of the reference.
struct round_fairness {
  std::uint64_t max_wait_ns = 0;  ///< the longest single wait
  std::string wait_site;          ///< empty: no thread waited
  std::uint64_t reference_max_wait_ns = 0;
  /// Of all turns at `share_site`, 0..1: the slowest thread's, and those of the same rank under the reference.
  double share = 0;
  double reference_share = 0;
  std::string share_site;  ///< where it lost most; empty: no thread was kept from its turns

  bool waits_too_long() const {
    return max_wait_ns > tune::max_wait_ns && max_wait_ns > max_wait_factor * reference_max_wait_ns;
  }
  bool starves() const { return !share_site.empty() && share < min_share_kept * reference_share; }
  bool is_bad() const { return waits_too_long() || starves(); }
};

round_fairness held_against(const measured& run, const measured& reference);

/// The rounds of a configuration that were judged.
struct fairness_record {
  std::vector<round_fairness> rounds;

  std::size_t bad() const;
  bool mostly_bad() const { return 2 * bad() > rounds.size(); }
  /// Why most of its rounds are bad, in one sentence with the medians of the bad rounds.
  std::string reason() const;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
