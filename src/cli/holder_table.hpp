// SPDX-License-Identifier: Apache-2.0
// Which code held the locks that others waited for, as `txsync run` prints it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <vector>

#include "launch/blame.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

/// A table of at most `max_rows` rows, one for each unlock with its caller and lock site. The rows with the longest
/// waits come first. `holds` are chains of launch::result::hold_chains. Prints nothing if there are none: no call chain
/// was asked for, or no thread waited long enough for one.
void print_holders(std::FILE* out, const std::vector<launch::blame>& holds, std::size_t max_rows);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
