// SPDX-License-Identifier: Apache-2.0
// What txsync::explore() calls. Images that do not use it are linked without this file: by that they are told apart
// (can_explore_itself()).
#include "own_exploration.hpp"

using namespace txsync::sim;

extern "C" {

void txsync_sim_explore_begin(const txsync_sim_exploration* asked) { begin_own_exploration(*asked); }
int txsync_sim_explore_next(void) { return begins_next_schedule() ? 1 : 0; }
void txsync_sim_explore_failed(void) { schedule_has_failed(); }
std::uint64_t txsync_sim_explored(void) { return explored_schedules(); }

}  // extern "C"
