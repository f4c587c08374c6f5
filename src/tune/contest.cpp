// SPDX-License-Identifier: Apache-2.0
#include "tune/contest.hpp"

#include <algorithm>

#include "observe/document/sites.hpp"

namespace txsync::inline TXSYNC_BACKEND::tune {
namespace {

constexpr unsigned first_round_that_drops = 4;
constexpr double drop_below = 0.05;
constexpr double promising_below = 0.2;
/// Before a comparison may end for lack of challengers, a single challenger must have had the chance to lose.
constexpr unsigned min_rounds = 5;

void add(std::vector<site_seen>& sum, const std::vector<site_seen>& part) {
  for (const site_seen& one : part) {
    const auto known = std::find_if(sum.begin(), sum.end(),
                                    [&](const site_seen& other) { return other.counted.name == one.counted.name; });
    if (known == sum.end()) {
      sum.push_back(one);
      continue;
    }
    for (const std::string& program : one.counted.programs) {
      std::vector<std::string>& all = known->counted.programs;
      const auto at = std::lower_bound(all.begin(), all.end(), program);
      if (at == all.end() || *at != program) all.insert(at, program);
    }
    known->counted.acquisitions += one.counted.acquisitions;
    known->counted.contended += one.counted.contended;
    known->counted.wait_ns += one.counted.wait_ns;
    known->counted.max_wait_ns = std::max(known->counted.max_wait_ns, one.counted.max_wait_ns);
    known->counted.failed_waits += one.counted.failed_waits;
    known->counted.failed_wait_ns += one.counted.failed_wait_ns;
    known->counted.unfinished_waits += one.counted.unfinished_waits;
    known->counted.unfinished_wait_ns += one.counted.unfinished_wait_ns;
    // The slowest of the slowest threads of all runs.
    const auto& slow = one.counted.slowest;
    auto& slowest = known->counted.slowest;
    if (slow && (!slowest || slow->share < slowest->share)) slowest = slow;
    known->counted.hold_ns += one.counted.hold_ns;
    observe::add(known->counted.speculation, one.counted.speculation);
    observe::add(known->counted.transactions, one.counted.transactions);
    observe::add(known->counted.warm_ups, one.counted.warm_ups);
    known->counted.condition_waits += one.counted.condition_waits;
    known->counted.condition_wait_ns += one.counted.condition_wait_ns;
    // Percentiles do not add up. Those of the longest run with samples stand for all.
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
    if (would_drop(lanes[best], lanes[i], way)) {
      lanes[i].status = lane_status::dropped;
      lanes[i].ended_in = round;
    }
  }
}

/// Compares the runs of each round with those of the reference.
class fairness_judge {
 public:
  fairness_judge(const contest_rules& rules, std::size_t lanes, contest_result& besides)
      : rules_(rules), runs_(lanes), besides_(besides) {}

  /// What is to be run in addition to the arms (`lane`); null: nothing.
  const choice* wanted(const std::vector<lane>& lanes, unsigned round) const {
    if (!rules_.fair_reference || round > rounds_of_fair_reference || !besides_.reference_failure.empty())
      return nullptr;
    return lane_of_reference(lanes) < lanes.size() ? nullptr : &*rules_.fair_reference;
  }
  void keep(std::size_t lane_index, measured run) { runs_[lane_index] = std::move(run); }
  void keep_reference(measured run) {
    besides_.reference_failure = run.failure;
    if (!run.failure.empty()) return;
    add(besides_.reference_sites, run.sites);
    ++besides_.reference_runs;
    this_round_ = std::move(run);
  }

  void end_round(std::vector<lane>& lanes, unsigned round) {
    if (!rules_.fair_reference) return;
    const std::size_t same = lane_of_reference(lanes);
    if (same < lanes.size() && runs_[same]) this_round_ = runs_[same];
    // Without sites nothing was counted, here and below.
    if (this_round_ && this_round_->sites.empty()) this_round_.reset();
    if (this_round_) reference_runs_.push_back(std::move(*this_round_));
    if (!reference_runs_.empty()) {
      const measured& reference =
          this_round_ ? reference_runs_.back() : reference_runs_[(round - 1) % reference_runs_.size()];
      lanes.front().fairness.rounds.push_back(held_against(reference, reference));
      for (std::size_t i = 1; i < lanes.size(); ++i) {
        const std::optional<measured>& run = runs_[i];
        if (i != same && run && !run->sites.empty()) lanes[i].fairness.rounds.push_back(held_against(*run, reference));
      }
    }
    this_round_.reset();
    for (std::optional<measured>& run : runs_) run.reset();
    // Before any arm is dropped for being slower than one that is refused.
    if (round >= first_round_that_drops) refuse(lanes, round);
  }

  static void refuse(std::vector<lane>& lanes, unsigned round) {
    for (std::size_t i = 1; i < lanes.size(); ++i) {
      lane& one = lanes[i];
      const bool out = one.status == lane_status::failed || one.status == lane_status::refused;
      if (out || !one.fairness.mostly_bad()) continue;
      if (one.status == lane_status::running) one.ended_in = round;
      one.status = lane_status::refused;
      one.reason = one.fairness.reason();
    }
  }

 private:
  std::size_t lane_of_reference(const std::vector<lane>& lanes) const {
    const auto at = std::find_if(lanes.begin(), lanes.end(), [this](const lane& one) {
      return rules_.fair_reference && one.what == *rules_.fair_reference && one.status != lane_status::failed;
    });
    return static_cast<std::size_t>(at - lanes.begin());
  }

  const contest_rules& rules_;
  std::vector<std::optional<measured>> runs_;  // of this round, by arm
  std::optional<measured> this_round_;         // the reference's
  std::vector<measured> reference_runs_;
  contest_result& besides_;
};

/// One round over all running arms. False if it was cut short.
bool run_round(trial& runs, std::vector<lane>& lanes, unsigned round, const contest_rules& rules,
               const surroundings& world, fairness_judge& judge) {
  const unsigned planned = (round + rules.rounds - 1) / rules.rounds * rules.rounds;
  if (const choice* const also = judge.wanted(lanes, round)) {
    if (world.stop()) return false;
    world.tell({rules.phase, round, planned, name_of(*also), running(lanes)});
    judge.keep_reference(runs.run(*also, rules.timeout_seconds));
    if (world.stop()) return false;
  }
  for (std::size_t turn = 0; turn < lanes.size(); ++turn) {
    lane& one = lanes[(turn + round - 1) % lanes.size()];
    if (one.status != lane_status::running) continue;
    if (world.stop()) return false;
    world.tell({rules.phase, round, planned, name_of(one.what), running(lanes)});
    measured seen = runs.run(one.what, rules.timeout_seconds);
    if (world.stop()) return false;  // the program got the signal, too
    if (seen.failure.empty() && !seen.unfit.empty() && &one != lanes.data()) {
      one.status = lane_status::refused;
      one.ended_in = round;
      one.reason = std::move(seen.unfit);
      continue;
    }
    if (seen.failure.empty()) {
      one.values.push_back(seen.value);
      add(one.sites, seen.sites);
      judge.keep(static_cast<std::size_t>(&one - lanes.data()), std::move(seen));
      continue;
    }
    one.status = lane_status::failed;
    one.ended_in = round;
    one.reason = std::move(seen.failure);
  }
  return true;
}

/// The rounds are used up. Whether more of them would decide something: not if nothing looks better than the reference.
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

bool would_drop(const lane& one, const lane& other, observe::better way) {
  return observe::sign_test_below_one(round_ratios(other, one, way)) < drop_below;
}

namespace {

contest_end run_rounds(trial& runs, std::vector<lane>& lanes, const contest_rules& rules, const surroundings& world,
                       contest_result& besides) {
  const double started = world.now();
  fairness_judge judge(rules, lanes.size(), besides);
  for (unsigned round = 1; round <= rules.rounds * (1 + rules.extensions); ++round) {
    if (round > rules.rounds && (round - 1) % rules.rounds == 0 && !worth_extending(lanes, rules))
      return contest_end::complete;
    const double now = world.now();
    const double usual = round == 1 ? 0 : (now - started) / (round - 1);
    if (round > 1 && rules.deadline != 0 && now + usual > rules.deadline) {
      return round <= rules.rounds ? contest_end::time_up : contest_end::complete;
    }
    if (!run_round(runs, lanes, round, rules, world, judge)) return contest_end::complete;
    if (lanes.front().status != lane_status::running) return contest_end::complete;
    judge.end_round(lanes, round);
    if (rules.drop && round >= first_round_that_drops) drop_losers(lanes, round, rules.way);
    const unsigned challengers = running(lanes) - 1;
    if (challengers == 0) return contest_end::complete;
    if (rules.until_one_is_left && challengers == 1 && round >= min_rounds) return contest_end::complete;
  }
  return contest_end::complete;
}

}  // namespace

contest_result compete(trial& runs, std::vector<lane>& lanes, const contest_rules& rules, const surroundings& world) {
  contest_result made;
  made.end = run_rounds(runs, lanes, rules, world, made);
  fairness_judge::refuse(lanes, static_cast<unsigned>(lanes.front().values.size()));
  return made;
}

}  // namespace txsync::inline TXSYNC_BACKEND::tune
