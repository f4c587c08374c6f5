// SPDX-License-Identifier: Apache-2.0
// Flame graphs: call chains from the bottom up. A frame is as wide as its share of the time.
#pragma once

#include <string>
#include <vector>

#include "report/call_tree.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {

struct flame_chart {
  std::string title;
  std::string description;
  std::string root;                ///< what the frame at the bottom means: "all waiting"
  std::string what;                ///< the words after a time: "waited", "of waiting a second"
  std::string look;                ///< "waits" or "holds": a class of the style sheet; not used in comparisons
  bool compares = false;           ///< colours and signs show how `amount` differs from `before`
  std::vector<call_chain> chains;  ///< amounts in nanoseconds
};

/// The root is at the bottom, the lock on top, the heaviest callee on the left. Frames too narrow to see are merged
/// into one. Empty if the chains have no time.
std::string drawn(const flame_chart& chart);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
