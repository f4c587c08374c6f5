// SPDX-License-Identifier: Apache-2.0
#include "tune/contest.hpp"

#include <algorithm>

namespace txsync::inline TXSYNC_BACKEND::tune {
namespace {

constexpr unsigned first_round_that_drops = 4;
constexpr double drop_below = 0.05;
constexpr double promising_below = 0.2;
/// Before a contest may end for lack of challengers, a single one must have had the chance to lose.
constexpr unsigned least_rounds = 5;

void add(std::vector<site_seen>& sum, const std::vector<site_seen>& part) {
  for (const site_seen& one : part) {
    const auto known = std::find_if(sum.begin(), sum.end(),
                                    [&](const site_seen& other) { return other.counted.name == one.counted.name; });
    if (known == sum.end()) {
      sum.push_back(one);
      continue;
    }
    known->counted.acquisitions += one.counted.acquisitions;
    known->counted.contended += one.counted.contended;
    known->counted.wait_ns += one.counted.wait_ns;
    known->counted.hold_ns += one.counted.hold_ns;
    known->counted.condition_waits += one.counted.condition_waits;
    known->counted.condition_wait_ns += one.counted.condition_wait_ns;
    // Percentiles do not add up; those of the longest run with samples stand for all.
    if (one.counted.wait.samples > known->counted.wait.samples) known->counted.wait = one.counted.wait;
    if (one.counted.hold.samples > known->counted.hold.samples) known->counted.hold = one.counted.hold;
  }
}

unsigned running(const std::vector<lane>& lanes) {
  return static_cast<unsigned>(
      std::count_if(lanes.begin(), lanes.end(), [](const lane& one) { return one.status == lane_status::running; }));
}

void drop_losers(std::vector<lane>& lanes, unsigned round, observe::better way) {
  const std::size_t best = leader(lanes, way);
  for (std::size_t i = 1; i < lanes.size(); ++i) {
    if (i == best || lanes[i].status != lane_status::running) continue;
    if (observe::sign_test_below_one(round_ratios(lanes[i], lanes[best], way)) < drop_below) {
      lanes[i].status = lane_status::dropped;
      lanes[i].ended_in = round;
    }
  }
}

/// One round over all running lanes; false when it was cut short.
bool run_round(trial& runs, std::vector<lane>& lanes, unsigned round, const contest_rules& rules,
               const surroundings& world) {
  for (std::size_t turn = 0; turn < lanes.size(); ++turn) {
    lane& one = lanes[(turn + round - 1) % lanes.size()];
    if (one.status != lane_status::running) continue;
    if (world.stop()) return false;
    const unsigned planned = (round + rules.rounds - 1) / rules.rounds * rules.rounds;
    world.tell({rules.phase, round, planned, name_of(one.what), running(lanes)});
    measured seen = runs.run(one.what, rules.timeout_seconds);
    if (world.stop()) return false;  // the signal met the program, too
    if (seen.failure.empty()) {
      one.values.push_back(seen.value);
      add(one.sites, seen.sites);
      continue;
    }
    one.status = lane_status::failed;
    one.ended_in = round;
    one.reason = std::move(seen.failure);
  }
  return true;
}

/// The rounds are used up: would more of them decide something? Not where nothing looks better than the reference.
bool worth_extending(const std::vector<lane>& lanes, const contest_rules& rules) {
  const std::size_t best = leader(lanes, rules.way);
  if (best == 0) return false;
  const bool sure = surely_better(lanes[best], lanes[0], rules.way);
  if (rules.until_one_is_left) return sure;
  return !sure && observe::sign_test_below_one(round_ratios(lanes[0], lanes[best], rules.way)) < promising_below;
}

}  // namespace

std::vector<double> round_ratios(const lane& one, const lane& other, observe::better way) {
  const std::size_t both = std::min(one.values.size(), other.values.size());
  if (both == 0) return {};
  return observe::ratios(std::span(one.values).first(both), std::span(other.values).first(both), way);
}

std::size_t leader(const std::vector<lane>& lanes, observe::better way) {
  const auto beats = [&](std::size_t one, std::size_t other) {
    const std::vector<double> ratios = round_ratios(lanes[one], lanes[other], way);
    return !ratios.empty() && observe::median_interval(ratios).median > 1;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < lanes.size(); ++i) {
    if (lanes[i].status == lane_status::running && beats(i, 0) && beats(i, best)) best = i;
  }
  return best;
}

bool surely_better(const lane& one, const lane& other, observe::better way) {
  if (one.status != lane_status::running || other.status != lane_status::running) return false;
  const std::vector<double> ratios = round_ratios(one, other, way);
  if (ratios.empty()) return false;
  const observe::interval found = observe::median_interval(ratios);
  return found.coverage >= 0.95 && found.low95 > 1;
}

contest_end compete(trial& runs, std::vector<lane>& lanes, const contest_rules& rules, const surroundings& world) {
  const double started = world.now();
  for (unsigned round = 1; round <= rules.rounds * (1 + rules.extensions); ++round) {
    if (round > rules.rounds && (round - 1) % rules.rounds == 0 && !worth_extending(lanes, rules))
      return contest_end::complete;
    const double now = world.now();
    const double usual = round == 1 ? 0 : (now - started) / (round - 1);
    if (round > 1 && rules.deadline != 0 && now + usual > rules.deadline) {
      return round <= rules.rounds ? contest_end::time_up : contest_end::complete;
    }
    if (!run_round(runs, lanes, round, rules, world)) return contest_end::complete;
    if (lanes.front().status != lane_status::running) return contest_end::complete;
    if (rules.drop && round >= first_round_that_drops) drop_losers(lanes, round, rules.way);
    const unsigned challengers = running(lanes) - 1;
    if (challengers == 0) return contest_end::complete;
    if (rules.until_one_is_left && challengers == 1 && round >= least_rounds) return contest_end::complete;
  }
  return contest_end::complete;
}

}  // namespace txsync::inline TXSYNC_BACKEND::tune
