// SPDX-License-Identifier: Apache-2.0
// Call chains with amounts, as a tree: what flame graphs draw.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::report {

struct call_chain {
  std::vector<std::string> frames;  ///< root first; the last one is the lock
  double amount = 0;
  double before = 0;  ///< of a comparison: the amount in the first document
};

/// A frame with everything that was called from it there.
struct call_frame {
  std::string name;
  double amount = 0;  ///< of its own chains and of its callees
  double before = 0;
  bool lock = false;       ///< the last frame of a chain
  std::size_t merged = 0;  ///< more than 0: so many narrow frames, without a name of their own
  std::vector<call_frame> callees;
};

/// How wide a frame is drawn. In a comparison the mean of both amounts, so that what is gone keeps a width.
double weight_of(const call_frame& frame, bool compares) noexcept;

/// The root has no name and holds everything. A comparison takes frames as the same that differ in the line only. Of
/// longer chains than max_levels the middle is one frame. Chains whose amounts are 0 or less are left out.
call_frame tree_of(const std::vector<call_chain>& chains, bool compares);

inline constexpr std::size_t max_levels = 40;

/// Callees that weigh less than `least` become one frame, with the heaviest first. What a narrow frame called is left
/// out.
void merge_narrow(call_frame& frame, double least, bool compares);

std::size_t frames_in(const call_frame& frame) noexcept;
std::size_t levels_of(const call_frame& frame) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::report
