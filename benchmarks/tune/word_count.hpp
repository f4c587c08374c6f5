// SPDX-License-Identifier: Apache-2.0
// Claim A4-2: examples/word_count.cpp, which links txsync, gives `ticket` to a lock where the mutex is right. The
// tuner, asked as a user would, names the lock's site, and reaches the best policy made by hand.
#pragma once

#include <cstdio>

#include "observe/document/document.hpp"
#include "tune/engine.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

struct word_count_options {
  unsigned rounds = 12;   ///< of the comparison
  unsigned texts = 2000;  ///< of a run
  unsigned simulated_texts = 40;
};

/// Tunes the program as it is, compares, adds points and claims to the document and prints the points. Takes some
/// minutes. Throws launch::cannot_start.
void tune_word_count(observe::document& into, const word_count_options& asked, const tune::environment& world,
                     std::FILE* table);

/// The same on a simulated machine whose attempts commit, so that policies of elision are among those made by hand.
void tune_simulated_word_count(observe::document& into, const word_count_options& asked, const tune::environment& world,
                               std::FILE* table);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
