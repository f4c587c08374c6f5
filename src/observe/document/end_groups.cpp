// SPDX-License-Identifier: Apache-2.0
#include "observe/document/end_groups.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {
namespace {

/// "add_to (program.cpp:12)" without the line.
std::string function_of(const std::string& place) { return place.substr(0, place.rfind(" (")); }

std::string call_of(const abort_end& end) {
  return end.caller.empty() ? "(not known)" : function_of(end.line) + " from " + function_of(end.caller);
}

end_group group_by(const char* by, const std::vector<abort_end>& ends, std::string (*name_of)(const abort_end& end)) {
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t all = 0;
  for (const abort_end& end : ends) {
    counts[name_of(end)] += end.count;
    all += end.count;
  }
  end_group made{by, {}};
  made.shares.reserve(counts.size());
  for (const auto& [name, count] : counts)
    made.shares.emplace_back(name, static_cast<double>(count) / static_cast<double>(all));
  std::stable_sort(made.shares.begin(), made.shares.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return made;
}

}  // namespace

std::vector<end_group> groups_of(const std::vector<abort_end>& ends) {
  if (ends.empty()) return {};
  std::vector<end_group> groups;
  groups.push_back(group_by("line", ends, [](const abort_end& end) { return end.line; }));
  groups.push_back(group_by("function", ends, [](const abort_end& end) { return function_of(end.line); }));
  groups.push_back(group_by("caller", ends, call_of));
  if (std::any_of(ends.begin(), ends.end(), [](const abort_end& end) { return !end.cause.empty(); })) {
    groups.push_back(group_by("line and cause", ends, [](const abort_end& end) {
      return end.cause.empty() ? end.line : end.line + ": " + end.cause;
    }));
  }
  return groups;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
