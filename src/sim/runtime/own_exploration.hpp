// SPDX-License-Identifier: Apache-2.0
// A program that explores a part of itself by txsync::explore() (include/txsync/explore.hpp): the part runs again and
// again in this process. Each run is a schedule, as a run of a whole program is under `txsync explore -- PROGRAM`: a few
// schedules come first, from which the others learn.
#pragma once

#include <cstdint>

#include <txsync_backend/runtime.h>

#include "line_text.hpp"

namespace txsync::sim {

/// Whether the program is linked with txsync::explore(). Started alone, it runs on a machine that is built in.
bool can_explore_itself() noexcept;

/// The program's own words, which a message repeats. Called before main().
void keep_command(int count, char** words) noexcept;

/// Before main() of a program that is started in an exploring order, and not as one schedule: it may explore itself.
void expect_own_explorations() noexcept;

/// What txsync::explore() calls: runtime.h says more. In a program that is not explored in this way, the body runs once.
void begin_own_exploration(const txsync_sim_exploration& asked) noexcept;
bool begins_next_schedule() noexcept;
void schedule_has_failed() noexcept;
std::uint64_t explored_schedules() noexcept;

/// A line with the command that repeats the schedule, if one of the program's own is running. Otherwise nothing.
void add_repetition(line_text& line) noexcept;
/// The program ends. If that is within a schedule, it is a fault. Returns the exit status.
int ends_within_schedule(int status) noexcept;
/// A signal asks the program to end. If that is within a schedule, it says how many were run, and ends the program.
void end_interrupted_exploration(int signal) noexcept;

}  // namespace txsync::sim
