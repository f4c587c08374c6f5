// SPDX-License-Identifier: Apache-2.0
// The tables of the code in which attempts ended.
#pragma once

#include <cstdio>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// Shares of the aborts by line, by function, by caller, and, if causes are known, by line and cause. Five rows each,
/// the greatest first. Prints nothing if there are none.
void print_abort_ends(std::FILE* out, const std::vector<abort_end>& ends);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
