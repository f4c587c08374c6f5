// SPDX-License-Identifier: Apache-2.0
#include "cli/explore_table.hpp"

#include <string>

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

void print_heading(std::FILE* out) {
  std::fprintf(out, "%-38s %12s %14s  %s\n", "test", "schedules", "a second", "found");
}

void print_result(std::FILE* out, const simulate::exploration_result& result) {
  if (!result.error.empty()) {
    std::fprintf(out, "%-38s %s\n", result.subject.c_str(), result.error.c_str());
    return;
  }
  const std::string found = result.failing ? result.complaint + "\n    " + result.again : "nothing";
  std::fprintf(out, "%-38s %12llu %14.0f  %s%s\n", result.subject.c_str(),
               static_cast<unsigned long long>(result.schedules),
               static_cast<double>(result.schedules) / result.seconds, result.right ? "" : "FAILED: ", found.c_str());
  std::fflush(out);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
