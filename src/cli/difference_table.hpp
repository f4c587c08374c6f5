// SPDX-License-Identifier: Apache-2.0
// The table of `txsync report --diff`.
#pragma once

#include <cstddef>
#include <cstdio>

#include "report/difference.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

/// Prints what was measured before and after, with at most `most` sites and `most` measurements. Names from the
/// documents are made printable.
void print_difference(std::FILE* out, const report::difference& all, std::size_t most);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
