// SPDX-License-Identifier: Apache-2.0
// The uncontended paths whose instructions bench_instructions counts.
#pragma once

#include <span>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// A lock and its unlock, or an atomic block, by a thread that is single-stepped.
struct uncontended_path {
  const char* name;
  /// Locks and unlocks often enough that nothing is done for the first time any more, calls ready(), and then locks and
  /// unlocks `pairs` times. `*counts` is 1 from before each lock() until after its unlock(), else 0.
  void (*run)(volatile unsigned* counts, unsigned pairs, void (*ready)());
};

/// A pair of nothing: what the two writes of `*counts` are taken for.
extern const uncontended_path empty_path;
/// The library's locks, elided and warming ones beside the plain.
std::span<const uncontended_path> library_paths();
/// Mutexes of other libraries; none where they are not installed.
std::span<const uncontended_path> peer_paths();
/// pthread's, whoever serves them in this process.
std::span<const uncontended_path> pthread_paths();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
