// SPDX-License-Identifier: Apache-2.0
#include "simulate/program_profile.hpp"

#include <algorithm>
#include <set>

#include "simulate/explore.hpp"
#include "simulate/simulate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
namespace {

constexpr unsigned learning_runs = 8;
constexpr unsigned counting_runs = 4;
/// A run ends after so many. Then the program is long, and there are fewer runs.
constexpr std::uint64_t max_steps = 500'000;
constexpr unsigned runs_of_long_program = 2;
constexpr std::uint64_t min_choices = 2;

/// The median of a few runs in random order. A run that deadlocks may have far more than the others.
std::uint64_t choices_of(sim::image_request request, unsigned runs) {
  request.order = sim::schedule_order::random;
  std::vector<std::uint64_t> all;
  for (request.seed = 0; request.seed < runs; ++request.seed)
    all.push_back(whole_run(request).number(sim::number_record::choices));
  std::sort(all.begin(), all.end());
  return std::max(min_choices, all[all.size() / 2]);
}

}  // namespace

sim::image_result whole_run(const sim::image_request& request) {
  sim::image_result seen = sim::run_image(request);
  if (is_cut_short(seen)) throw sim::image_error(complaint_of_schedule(seen, request.path));
  return seen;
}

program_profile profile_of(sim::image_request request) {
  request.store_buffers = false;
  request.probes = 0;
  request.choices = 1;
  request.max_steps = max_steps;  // whatever the user's is, so that a replay with another one is the same
  request.learns = true;
  std::set<std::uint64_t> codes;
  unsigned runs = learning_runs;
  for (request.seed = 0; request.seed < runs; ++request.seed) {
    // By priorities, a thread often does all that it can before others go on; in random order it seldom does.
    const bool is_even = request.seed % 2 == 0;
    request.order = is_even ? sim::schedule_order::random : sim::schedule_order::priorities;
    const sim::image_result seen = whole_run(request);
    codes.insert(seen.shared_codes.begin(), seen.shared_codes.end());
    if (seen.number(sim::number_record::steps) >= max_steps) runs = runs_of_long_program;
  }
  request.shared_codes.assign(codes.begin(), codes.end());
  program_profile profile{.shared_codes = request.shared_codes};
  runs = std::min(runs, counting_runs);
  profile.accesses = choices_of(request, runs);
  request.learns = false;
  profile.choices = choices_of(request, runs);
  return profile;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
