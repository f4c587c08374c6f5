// SPDX-License-Identifier: Apache-2.0
// Policies that make a program much slower than the reference, and where its threads then wait.
#pragma once

#include <optional>
#include <string>

#include "tune/engine.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

/// A configuration so many times as slow as the reference is worth a sentence.
inline constexpr double min_slowdown = 1.1;

struct slowdown {
  double factor = 0;         ///< min_slowdown or more
  std::string site;          ///< whose waits grew most; empty: none grew, or the reference was not counted
  double added_wait_ns = 0;  ///< there, on average in a run
};

/// For an arm of the comparison for the whole program, with its ratio to the reference. None if the arm is not that
/// slow.
std::optional<slowdown> slowdown_of(const arm& slow_arm, const observe::interval& ratio, const outcome& result);

/// "1.6 times as slow as what you have; its threads wait 0.42 s more in a run at push@queue.cpp:12".
std::string words_of(const slowdown& slow);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
