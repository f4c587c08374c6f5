// SPDX-License-Identifier: Apache-2.0
// What `txsync bench` and `txsync sim` print of their runs.
#pragma once

#include <cstdio>
#include <string>

#include "measure/measure.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

void print_heading(std::FILE* out, const measure::bench_request& request, const std::string& machine);
void print_table(std::FILE* out, const measure::bench_request& request, const measure::bench_result& result);
/// Prints what went wrong on standard error, and returns the exit status.
int report_faults(const char* verb, const measure::bench_result& result);
/// What txsync's own locks counted at their sites.
void print_sites(std::FILE* out, const measure::bench_result& result);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
