// SPDX-License-Identifier: Apache-2.0
// Flame graphs: call chains from the bottom up, each frame as wide as its time.
#pragma once

#include <string>
#include <vector>

#include "report/call_tree.hpp"

namespace txsync::inline TXSYNC_BACKEND::report {

struct flame_chart {
  std::string title;
  std::string description;
  std::string root;                ///< what the frame at the bottom stands for: "all waiting"
  std::string what;                ///< behind a time: "waited", "of waiting a second"
  std::string look;                ///< "waits" or "holds": a class of the style; not of comparisons
  bool compares = false;           ///< colours and signs say how `amount` differs from `before`
  std::vector<call_chain> chains;  ///< in nanoseconds
};

/// Root at the bottom, the lock on top, the heaviest callee on the left. Frames that are too narrow to be seen are
/// merged into one. Empty where the chains have no time.
std::string drawn(const flame_chart& chart);

}  // namespace txsync::inline TXSYNC_BACKEND::report
