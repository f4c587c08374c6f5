// SPDX-License-Identifier: Apache-2.0
// Claim A3-8: of twenty mutexes of the C library one is of the wrong kind (twenty_locks.cpp). The tuner, asked as a
// user would, changes that one and keeps the others.
#pragma once

#include <string>
#include <vector>

#include "observe/document/document.hpp"
#include "tune/engine.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Tunes the program, and adds the points of the proof and two claims to the document. Takes some minutes.
/// `sections`: of a run of the program. Throws launch::cannot_start.
void tune_one_of_twenty(observe::document& into, unsigned long sections, const tune::environment& world);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
