// SPDX-License-Identifier: Apache-2.0
// The table of lock sites that verbs print.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

struct site_row {
  std::string lead;  ///< the verb's own columns before the site's; rows of one lead share their waiting
  const observe::site_record* site = nullptr;
};

/// At most `most` rows in the given order, with units in the heading, and the number of further rows. "-": nothing was
/// sampled. Sites with attempts (hardware transactions), with software transactions and with condition waits follow in
/// tables of their own, if there are any.
void print_site_table(std::FILE* out, const std::string& lead_heading, const std::vector<site_row>& rows,
                      std::size_t most);

/// A percentile by its name in documents ("p50"); 0 if it is absent.
double percentile(const observe::percentile_record& times, const char* name);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
