// SPDX-License-Identifier: Apache-2.0
// A program in the systematic order: runs it until each of its executions was made, or so many.
#include <chrono>

#include <fmt/core.h>

#include "base/bad_input.hpp"
#include "base/stop_on_signal.hpp"
#include "simulate/explore.hpp"
#include "simulate/simulate.hpp"
#include "simulate/systematic.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
using base::stop_on_signal;

namespace {

sim::image_request request_of(const program_exploration& what, const schedule_kind& kind, const execution_plan& plan) {
  program_profile none;
  sim::image_request request = program_schedule(what, kind, 0, none);
  request.learns = true;  // each access is a step
  request.chosen = plan.words();
  return request;
}

bool is_whole(const sim::image_result& seen) { return seen.number(sim::number_record::redundant) == 0; }

/// Whether a thread has waited for a short time. In other orders that may end at any step.
bool has_waited_shortly(const sim::image_result& seen) {
  for (const sim::segment& one : seen.segments) {
    for (const sim::segment_event& event : one.events) {
      if (event.kind == sim::segment_event_kind::waits_shortly) return true;
    }
  }
  return false;
}

}  // namespace

void check_systematic(const schedule_kind& kind) {
  if (kind.order == sim::schedule_order::systematic && (kind.store_buffers || kind.probes != 0))
    throw base::bad_input("the order systematic has no store buffers and no probes; allowed with it: races");
}

sim::image_request systematic_schedule(const program_exploration& what, const schedule_kind& kind,
                                       std::uint64_t number) {
  systematic_exploration executions;
  for (std::uint64_t run = 1; run < number && executions.has_next(); ++run) {
    const sim::image_result seen = whole_run(request_of(what, kind, executions.next()));
    executions.add(seen.segments, seen.awaited);
  }
  if (!executions.has_next()) throw base::bad_input("the program has fewer executions than the key says");
  return request_of(what, kind, executions.next());
}

exploration_result explore_systematically(const program_exploration& what, const schedule_kind& kind,
                                          std::uint64_t max_executions) {
  check_systematic(kind);
  const auto began = std::chrono::steady_clock::now();
  exploration_result result{.subject = what.name, .order = kind.text(), .key = {what.name, kind, 0}};
  systematic_exploration executions;
  bool waits_shortly = false;
  while (executions.has_next() && result.schedules < max_executions && !result.failing && !stop_on_signal::asked()) {
    sim::image_request request = request_of(what, kind, executions.next());
    request.stop = stop_on_signal::asked;
    sim::image_result seen;
    try {
      seen = sim::run_image(request);
      if (is_cut_short(seen) || seen.number(sim::number_record::unexplorable) != 0)
        throw sim::image_error(complaint_of_schedule(seen, what.path));
    } catch (const sim::image_error&) {
      if (stop_on_signal::asked_soon()) break;
      throw;
    }
    ++result.key.seed;
    result.schedules += is_whole(seen) ? 1 : 0;
    result.redundant += is_whole(seen) ? 0 : 1;
    result.complaint = complaint_of_schedule(seen, what.path);
    result.failing = !result.complaint.empty();
    waits_shortly = waits_shortly || has_waited_shortly(seen);
    if (!result.failing) executions.add(std::move(seen.segments), seen.awaited);
  }
  result.right = !result.failing;
  if (result.schedules == max_executions && executions.has_next())
    result.partial_because = fmt::format("there are more than --schedules {}", max_executions);
  else if (waits_shortly)
    result.partial_because = "a thread waits for a millisecond or less";
  const bool is_complete = !executions.has_next() && !waits_shortly;
  result.completeness = is_complete ? exploration_completeness::complete : exploration_completeness::partial;
  if (result.failing) result.again = again_by(what, result.key);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
