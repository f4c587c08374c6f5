// SPDX-License-Identifier: Apache-2.0
#include "simulate/program_profile.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "simulate/explore.hpp"
#include "simulate/simulate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
namespace {

namespace profile_runs = sim::profile_runs;

/// Of a few runs in random order. Choices are their median: a run that deadlocks may have far more than the others. Uses
/// of a word are the most that one run has seen.
schedule_profile schedules_like(sim::image_request request, unsigned runs) {
  request.order = sim::schedule_order::random;
  request.counts_uses = true;
  std::vector<std::uint64_t> choices;
  std::map<std::pair<std::uint64_t, std::uint32_t>, sim::word_use> uses;
  for (request.seed = 0; request.seed < runs; ++request.seed) {
    const sim::image_result seen = whole_run(request);
    choices.push_back(seen.number(sim::number_record::choices));
    for (const sim::word_use& one : seen.word_uses) {
      sim::word_use& kept = uses[{one.address, one.thread}];
      const std::uint32_t written = kept.written | one.written;
      if (kept.count < one.count) kept = one;
      kept.written = written;
    }
  }
  std::sort(choices.begin(), choices.end());
  schedule_profile profile{.choices = std::max(profile_runs::min_choices, choices[choices.size() / 2])};
  for (const auto& [place, use] : uses) profile.word_uses.push_back(use);
  return profile;
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
  request.max_steps = profile_runs::max_steps;  // whatever the user's is, so that a replay with another one is the same
  request.learns = true;
  std::set<std::uint64_t> codes;
  unsigned runs = profile_runs::learning;
  for (request.seed = 0; request.seed < runs; ++request.seed) {
    request.order = profile_runs::order_of(request.seed);
    const sim::image_result seen = whole_run(request);
    codes.insert(seen.shared_codes.begin(), seen.shared_codes.end());
    if (seen.number(sim::number_record::steps) >= profile_runs::max_steps) runs = profile_runs::of_long_program;
  }
  request.shared_codes.assign(codes.begin(), codes.end());
  program_profile profile{.shared_codes = request.shared_codes};
  runs = std::min(runs, profile_runs::counting);
  profile.with_all_steps = schedules_like(request, runs);
  request.learns = false;
  profile.usual = schedules_like(request, runs);
  return profile;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
