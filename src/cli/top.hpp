// SPDX-License-Identifier: Apache-2.0
// The tables of txsync top.
#pragma once

#include <cstddef>
#include <cstdio>
#include <vector>

#include "attach/site_intervals.hpp"
#include "attach/waiting.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

void print_intervals(std::FILE* out, const std::vector<attach::site_interval>& all, std::size_t most);

void print_threads(std::FILE* out, const attach::waiting& seen);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
