// SPDX-License-Identifier: Apache-2.0
// The table of lock sites that verbs print.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "observe/document/block_paths.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

using observe::site_row;

/// At most `most` rows in the given order, with units in the heading, and the number of further rows. "-": nothing was
/// sampled. If there are any, tables of their own follow for atomic blocks by path, attempts (hardware transactions),
/// software transactions, warm-ups and condition waits.
void print_site_table(std::FILE* out, const std::string& lead_heading, const std::vector<site_row>& rows,
                      std::size_t most);

/// A percentile by its name in documents ("p50"); 0 if it is absent.
double percentile(const observe::percentile_record& times, const char* name);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
