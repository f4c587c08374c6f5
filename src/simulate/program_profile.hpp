// SPDX-License-Identifier: Apache-2.0
// What a few runs of a program show before it is explored.
#pragma once

#include <cstdint>
#include <vector>

#include <txsync_backend/name.hpp>

#include "sim/host/image.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

/// What a schedule is expected to have.
struct schedule_profile {
  std::uint64_t choices = 1;
  std::vector<sim::word_use> word_uses = {};
};

struct program_profile {
  std::vector<std::uint64_t> shared_codes = {};  ///< sim::shared_instruction, sorted
  schedule_profile usual = {};
  schedule_profile with_all_steps = {};  ///< of a schedule in which each access of the program is a step
};

/// One run of a program. Throws sim::image_error; also if a signal has ended the run.
sim::image_result whole_run(const sim::image_request& request);

/// Runs the program of `request` in a few schedules, in random order and by priorities. The same program has the same
/// profile, so that a replay has the steps of the exploration. What a schedule finds is ignored; the exploration finds
/// it, too. Throws as whole_run() does.
program_profile profile_of(sim::image_request request);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
