// SPDX-License-Identifier: Apache-2.0
// How a simulation ends that cannot continue: with one line, among the records or on the standard error, which says how
// to replay it.
#pragma once

#include <cstdint>

#include "line_text.hpp"

namespace txsync::sim {

/// From now on, these also end the simulation in this way: a crash of the program, a thread that computes for ever,
/// SIGINT and SIGTERM.
void catch_crashes(std::uint64_t patience_s) noexcept;

[[noreturn]] void fail(const char* what) noexcept;
[[noreturn]] void fail(const line_text& what) noexcept;

/// TXSYNC_ASSERT of this floor, which uses nothing above it: ends the simulation with the sentence. On where
/// TXSYNC_ASSERTIONS is 1 (machine/assert.hpp). Elsewhere the condition is not evaluated.
#if TXSYNC_ASSERTIONS
#define TXSYNC_SIM_ASSERT(condition, sentence) \
  ((condition) ? static_cast<void>(0) : ::txsync::sim::fail("this does not hold: " sentence))
#else
#define TXSYNC_SIM_ASSERT(condition, sentence) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif

}  // namespace txsync::sim
