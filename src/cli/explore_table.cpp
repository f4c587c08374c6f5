// SPDX-License-Identifier: Apache-2.0
#include "cli/explore_table.hpp"

#include <string>
#include <string_view>

#include "base/print.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

constexpr std::size_t test_width = 38;
constexpr std::string_view next_line = "\n    ";

/// A line for what is wrong, and one for each thread.
std::string in_lines(std::string complaint) {
  for (const std::string_view part : {"; waiting: thread ", "; thread ", " (simulated thread "}) {
    for (std::size_t at = 0; (at = complaint.find(part, at)) != std::string::npos; at += next_line.size())
      complaint.replace(at, part.find(' ') + 1, next_line);
  }
  return complaint;
}

}  // namespace

void print_heading(std::FILE* out) {
  base::print(out, "{:{}} {:>12} {:>14}  found\n", "test", test_width, "schedules", "a second");
}

void print_result(std::FILE* out, const simulate::exploration_result& result) {
  if (!result.error.empty()) {
    base::print(out, "{} {}\n", base::padded(result.subject, test_width), result.error);
    return;
  }
  std::string found = result.failing ? in_lines(result.complaint).append(next_line) + result.again : "nothing";
  if (!result.failing && result.completeness != simulate::exploration_completeness::not_known)
    found += result.completeness == simulate::exploration_completeness::complete ? "; explored completely"
                                                                                 : "; not explored completely";
  if (!result.failing && !result.partial_because.empty()) found += ": " + result.partial_because;
  base::print(out, "{} {:12} {:>14.0f}  {}{}\n", base::padded(result.subject, test_width), result.schedules,
              static_cast<double>(result.schedules) / result.seconds, result.right ? "" : "FAILED: ", found);
  std::fflush(out);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
