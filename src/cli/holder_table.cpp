// SPDX-License-Identifier: Apache-2.0
#include "cli/holder_table.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/print.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

/// "put_page@cache.c:120", as sites are named.
std::string place_of(const launch::named_call& call) {
  if (call.file.empty() || call.line == 0) return call.name;
  return fmt::format("{}@{}:{}", call.name, call.file.substr(call.file.rfind('/') + 1), call.line);
}

/// The nearest caller of the unlock that is not a lock wrapper, and its caller. Chains end with the lock call. Callers
/// that only wrap locks have been left out before it. A program may have wrappers whose names do not say so; then the
/// caller is the interesting one.
std::string holder_of(const launch::blame& one) {
  const std::size_t count = one.calls.size();
  if (count < 2) return "(unknown)";
  const std::string code = place_of(one.calls[count - 2]);
  return count < 3 ? code : code + " from " + place_of(one.calls[count - 3]);
}

}  // namespace

void print_holders(std::FILE* out, const std::vector<launch::blame>& holds, std::size_t max_rows) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> sums;  // ns, by holder and site
  std::uint64_t all_ns = 0;
  for (const launch::blame& one : holds) {
    sums[{holder_of(one), one.site}] += one.wait_ns;
    all_ns += one.wait_ns;
  }
  if (all_ns == 0) return;
  std::vector<std::pair<std::pair<std::string, std::string>, std::uint64_t>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::fputs("\nwho held locks while others waited (from samples)\nwaited for, s  of these %  unlocked at; lock site\n",
             out);
  for (std::size_t i = 0; i < rows.size() && i < max_rows; ++i) {
    const auto& [code, ns] = rows[i];
    base::print(out, "{:>13.3f} {:>11.1f}  {}; {}\n", static_cast<double>(ns) / 1e9,
                100 * static_cast<double>(ns) / static_cast<double>(all_ns), observe::printable(code.first),
                observe::printable(code.second));
  }
  if (rows.size() > max_rows) base::print(out, "... and {} more\n", rows.size() - max_rows);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
