// SPDX-License-Identifier: Apache-2.0
// The table of lock sites that verbs print.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {

struct site_row {
  std::string lead;  ///< columns of the verb's own before the site's; rows of one lead share their waiting
  const observe::site_record* site = nullptr;
};

/// At most `most` rows in the given order, units in the heading, and how many there are more. "-": nothing was sampled.
/// Sites with attempts (hardware transactions), transactions in software and waits on conditions follow in tables of
/// their own, where there are some.
void print_site_table(std::FILE* out, const std::string& lead_heading, const std::vector<site_row>& rows,
                      std::size_t most);

/// A percentile by its name in documents ("p50"); 0 when it is not there.
double percentile(const observe::percentile_record& times, const char* name);

}  // namespace txsync::inline TXSYNC_BACKEND::cli
