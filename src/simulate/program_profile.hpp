// SPDX-License-Identifier: Apache-2.0
// What a few runs of a program show before it is explored.
#pragma once

#include <cstdint>
#include <vector>

#include <txsync_backend/name.hpp>

#include "sim/host/image.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

struct program_profile {
  std::vector<std::uint64_t> shared_codes = {};  ///< sim::shared_instruction, sorted
  std::uint64_t choices = 1;                     ///< that a schedule has
  std::uint64_t accesses = 1;                    ///< the same if each access of the program is a step
};

/// Every so many schedules, each access of the program is a step: the instructions that access shared memory are known
/// from a few runs only.
constexpr std::uint64_t schedules_for_one_with_all_steps = 8;

/// One run of a program. Throws sim::image_error; also if a signal has ended the run.
sim::image_result whole_run(const sim::image_request& request);

/// Runs the program of `request` in a few schedules, in random order and by priorities. The same program has the same
/// profile, so that a replay has the steps of the exploration. What a schedule finds is ignored; the exploration finds
/// it, too. Throws as whole_run() does.
program_profile profile_of(sim::image_request request);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
