// SPDX-License-Identifier: Apache-2.0
// D2-2: the algorithm auto beside the others, where hardware transactions commit.
#pragma once

#include <vector>

#include "locks/measure.hpp"
#include "observe/document/document.hpp"
#include "tm/answers.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Transfers beside lists in one process; alone, and followed by the paths that the blocks are assigned to.
inline constexpr const char* mixed_preset = "mixed-inside";
/// Of auto to the best of others.
inline constexpr double goal_of_auto = 0.95;

/// The sections of mixed blocks. One is for auto, and for all blocks alike by htm_sgl or dctl. Then there is one for each
/// assignment of the blocks to paths, by hydctl.
std::vector<section> mixed_sections();

/// As far as the cells hold auto.
void claim_auto(const answers& all, const std::vector<cell>& cells, std::vector<observe::claim>& claims);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
