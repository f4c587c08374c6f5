// SPDX-License-Identifier: Apache-2.0
// What `txsync explore` prints of its results.
#pragma once

#include <cstdio>

#include "simulate/explore.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

void print_heading(std::FILE* out);
void print_result(std::FILE* out, const simulate::exploration_result& result);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
