// SPDX-License-Identifier: Apache-2.0
// How much of everything: the same scenarios must take seconds on a workstation, under a sanitizer and by emulation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "../../sanitizers.hpp"

namespace conformance {

/// Elsewhere than on x86-64 the tests mostly run by emulation.
#if defined(__x86_64__)
inline constexpr bool maybe_emulated = false;
#else
inline constexpr bool maybe_emulated = true;
#endif

/// TXSYNC_TEST_BUDGET=full: twenty times as much.
inline bool full_budget() {
  const char* const budget = std::getenv("TXSYNC_TEST_BUDGET");
  return budget != nullptr && std::string_view(budget) == "full";
}

/// `base` is what an optimized build does by default; never less than one.
inline unsigned rounds(unsigned base) {
  const unsigned divisor = under_tsan ? 8 : under_asan || maybe_emulated ? 4 : 1;
  return std::max(1u, base / divisor) * (full_budget() ? 20 : 1);
}

/// The numbers of threads that everything runs at.
inline constexpr std::array<unsigned, 4> team_sizes{1, 2, 4, 16};

inline bool oversubscribed(unsigned threads) { return threads > std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace conformance
