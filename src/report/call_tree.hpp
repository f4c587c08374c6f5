// SPDX-License-Identifier: Apache-2.0
// Call chains with amounts, as a tree for flame graphs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::report {

struct call_chain {
  std::vector<std::string> frames;  ///< root first; the last one is the lock
  double amount = 0;
  double before = 0;  ///< in a comparison: the amount in the first document
};

/// A frame with all frames that were called from it at this position.
struct call_frame {
  std::string name;
  double amount = 0;  ///< of chains that end here, and of all callees
  double before = 0;
  bool lock = false;       ///< the last frame of a chain
  std::size_t merged = 0;  ///< if not 0: this many narrow frames were merged into this one, which has no name
  std::vector<call_frame> callees;
};

/// How wide a frame is drawn. In a comparison it is the mean of both amounts, so that a frame that is gone has a width.
double weight_of(const call_frame& frame, bool compares) noexcept;

/// Makes the tree. The root has no name and contains everything. A comparison treats frames that differ only in the
/// line as the same. Longer chains than max_levels have one frame for their middle. Chains with amounts of 0 or less
/// are left out.
call_frame tree_of(const std::vector<call_chain>& chains, bool compares);

inline constexpr std::size_t max_levels = 40;

/// Merges callees that weigh less than `least` into one frame. That frame stands where the heaviest of them stood. What
/// narrow frames called is left out.
void merge_narrow(call_frame& frame, double least, bool compares);

std::size_t frames_in(const call_frame& frame) noexcept;
std::size_t levels_of(const call_frame& frame) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
