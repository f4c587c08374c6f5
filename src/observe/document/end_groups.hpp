// SPDX-License-Identifier: Apache-2.0
// Where attempts ended, grouped in the ways that tables and pages show.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

struct end_group {
  const char* by;                                      ///< "line", "function", "caller", "line and cause"
  std::vector<std::pair<std::string, double>> shares;  ///< fractions of all ends, from 0 to 1, the greatest first
};

/// By line, by function, by caller and, if causes are known, by line and cause. Empty if there are no ends.
std::vector<end_group> groups_of(const std::vector<abort_end>& ends);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
