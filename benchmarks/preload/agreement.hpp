// SPDX-License-Identifier: Apache-2.0
// How well `txsync run` agrees with a program that measures its own waits and holds (own_times).
#pragma once

#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Runs `program` so often, and adds points and the claims A2-4 of waits and holds. Throws std::runtime_error.
void measure_agreement(observe::document& into, const std::string& program, unsigned rounds);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
