// SPDX-License-Identifier: Apache-2.0
#include "observe/document/abort_ends.hpp"

#include "base/print.hpp"
#include "observe/document/end_groups.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

void print_abort_ends(std::FILE* out, const std::vector<abort_end>& ends) {
  constexpr std::size_t max_shown = 5;
  if (ends.empty()) return;
  std::fputs("\nWhat attempts did when they ended, as a share of the sampled aborts\n", out);
  for (const end_group& group : groups_of(ends)) {
    base::print(out, "  by {}\n", group.by);
    for (std::size_t i = 0; i < group.shares.size() && i < max_shown; ++i)
      base::print(out, "{:>8.1f} %  {}\n", 100 * group.shares[i].second, group.shares[i].first);
    if (group.shares.size() > max_shown)
      base::print(out, "            ... and {} more\n", group.shares.size() - max_shown);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
