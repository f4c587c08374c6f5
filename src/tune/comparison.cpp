// SPDX-License-Identifier: Apache-2.0
#include "tune/comparison.hpp"

#include <algorithm>

#include "observe/document/sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {
namespace {

constexpr unsigned first_round_that_drops = 4;
constexpr double drop_below = 0.05;
constexpr double promising_below = 0.2;
/// Before a comparison may end for lack of challengers, a single challenger must have had the chance to lose.
constexpr unsigned min_rounds = 5;

void add(std::vector<site_seen>& sum, const std::vector<site_seen>& part) {
  for (const site_seen& added : part) {
    const auto known = std::find_if(sum.begin(), sum.end(),
                                    [&](const site_seen& other) { return other.counted.name == added.counted.name; });
    if (known == sum.end()) {
      sum.push_back(added);
      continue;
    }
    for (const std::string& program : added.counted.programs) {
      std::vector<std::string>& all = known->counted.programs;
      const auto at = std::lower_bound(all.begin(), all.end(), program);
      if (at == all.end() || *at != program) all.insert(at, program);
    }
    known->counted.acquisitions += added.counted.acquisitions;
    known->counted.unwatched += added.counted.unwatched;
    known->counted.contended += added.counted.contended;
    known->counted.wait_ns += added.counted.wait_ns;
    known->counted.max_wait_ns = std::max(known->counted.max_wait_ns, added.counted.max_wait_ns);
    known->counted.failed_waits += added.counted.failed_waits;
    known->counted.failed_wait_ns += added.counted.failed_wait_ns;
    known->counted.unfinished_waits += added.counted.unfinished_waits;
    known->counted.unfinished_wait_ns += added.counted.unfinished_wait_ns;
    // The slowest of the slowest threads of all runs.
    const auto& slow = added.counted.slowest;
    auto& slowest = known->counted.slowest;
    if (slow && (!slowest || slow->share < slowest->share)) slowest = slow;
    known->counted.hold_ns += added.counted.hold_ns;
    observe::add(known->counted.speculation, added.counted.speculation);
    observe::add(known->counted.transactions, added.counted.transactions);
    observe::add(known->counted.path, added.counted.path);
    observe::add(known->counted.warm_ups, added.counted.warm_ups);
    known->counted.condition_waits += added.counted.condition_waits;
    known->counted.condition_wait_ns += added.counted.condition_wait_ns;
    // Percentiles do not add up. Those of the longest run with samples stand for all.
    if (added.counted.wait.samples > known->counted.wait.samples) known->counted.wait = added.counted.wait;
    if (added.counted.hold.samples > known->counted.hold.samples) known->counted.hold = added.counted.hold;
  }
}

unsigned running(const std::vector<arm>& arms) {
  return static_cast<unsigned>(
      std::count_if(arms.begin(), arms.end(), [](const arm& one) { return one.status == arm_status::running; }));
}

void drop_losers(std::vector<arm>& arms, unsigned round, observe::better way) {
  const std::size_t best = leader(arms, way);
  for (std::size_t i = 1; i < arms.size(); ++i) {
    if (i == best || arms[i].status != arm_status::running) continue;
    if (would_drop(arms[best], arms[i], way)) {
      arms[i].status = arm_status::dropped;
      arms[i].ended_in = round;
    }
  }
}

/// Compares the runs of each round with those of the reference.
class fairness_judge {
 public:
  fairness_judge(const comparison_rules& rules, std::size_t arms, comparison_result& besides)
      : rules_(rules), runs_(arms), besides_(besides) {}

  /// What is to be run in addition to the arms; null: nothing.
  const configuration* wanted(const std::vector<arm>& arms, unsigned round) const {
    if (!rules_.fair_reference || round > rounds_of_fair_reference || !besides_.reference_failure.empty())
      return nullptr;
    return arm_of_reference(arms) < arms.size() ? nullptr : &*rules_.fair_reference;
  }
  void keep(std::size_t arm_index, measured run) { runs_[arm_index] = std::move(run); }
  void keep_reference(measured run) {
    besides_.reference_failure = run.failure;
    if (!run.failure.empty()) return;
    add(besides_.reference_sites, run.sites);
    ++besides_.reference_runs;
    this_round_ = std::move(run);
  }

  void end_round(std::vector<arm>& arms, unsigned round) {
    if (!rules_.fair_reference) return;
    const std::size_t same = arm_of_reference(arms);
    if (same < arms.size() && runs_[same]) this_round_ = runs_[same];
    // Without sites nothing was counted, here and below.
    if (this_round_ && this_round_->sites.empty()) this_round_.reset();
    if (this_round_) reference_runs_.push_back(std::move(*this_round_));
    if (!reference_runs_.empty()) {
      const measured& reference =
          this_round_ ? reference_runs_.back() : reference_runs_[(round - 1) % reference_runs_.size()];
      arms.front().fairness.rounds.push_back(held_against(reference, reference));
      for (std::size_t i = 1; i < arms.size(); ++i) {
        const std::optional<measured>& run = runs_[i];
        if (i != same && run && !run->sites.empty()) arms[i].fairness.rounds.push_back(held_against(*run, reference));
      }
    }
    this_round_.reset();
    for (std::optional<measured>& run : runs_) run.reset();
    // Before any arm is dropped for being slower than one that is refused.
    if (round >= first_round_that_drops) refuse(arms, round);
  }

  static void refuse(std::vector<arm>& arms, unsigned round) {
    for (std::size_t i = 1; i < arms.size(); ++i) {
      arm& candidate = arms[i];
      const bool out = candidate.status == arm_status::failed || candidate.status == arm_status::refused;
      if (out || !candidate.fairness.mostly_bad()) continue;
      if (candidate.status == arm_status::running) candidate.ended_in = round;
      candidate.status = arm_status::refused;
      candidate.reason = candidate.fairness.reason();
    }
  }

 private:
  std::size_t arm_of_reference(const std::vector<arm>& arms) const {
    const auto at = std::find_if(arms.begin(), arms.end(), [this](const arm& one) {
      return rules_.fair_reference && one.config == *rules_.fair_reference && one.status != arm_status::failed;
    });
    return static_cast<std::size_t>(at - arms.begin());
  }

  const comparison_rules& rules_;
  std::vector<std::optional<measured>> runs_;  // of this round, by arm
  std::optional<measured> this_round_;         // the reference's
  std::vector<measured> reference_runs_;
  comparison_result& besides_;
};

/// One round over all running arms. False if it was cut short.
bool run_round(trial& runs, std::vector<arm>& arms, unsigned round, const comparison_rules& rules,
               const environment& world, fairness_judge& judge) {
  const unsigned planned = (round + rules.rounds - 1) / rules.rounds * rules.rounds;
  if (const configuration* const also = judge.wanted(arms, round)) {
    if (world.stop()) return false;
    world.report({rules.phase, round, planned, name_of(*also), running(arms)});
    judge.keep_reference(runs.run(*also, rules.timeout_seconds));
    if (world.stop()) return false;
  }
  for (std::size_t turn = 0; turn < arms.size(); ++turn) {
    arm& candidate = arms[(turn + round - 1) % arms.size()];
    if (candidate.status != arm_status::running) continue;
    if (world.stop()) return false;
    world.report({rules.phase, round, planned, name_of(candidate.config), running(arms)});
    measured run = runs.run(candidate.config, rules.timeout_seconds);
    if (world.stop()) return false;  // the program got the signal, too
    if (run.failure.empty() && !run.unfit.empty() && &candidate != arms.data()) {
      candidate.status = arm_status::refused;
      candidate.ended_in = round;
      candidate.reason = std::move(run.unfit);
      continue;
    }
    if (run.failure.empty()) {
      candidate.values.push_back(run.value);
      add(candidate.sites, run.sites);
      judge.keep(static_cast<std::size_t>(&candidate - arms.data()), std::move(run));
      continue;
    }
    candidate.status = arm_status::failed;
    candidate.ended_in = round;
    candidate.reason = std::move(run.failure);
  }
  return true;
}

/// The rounds are used up. Whether more of them would decide something: not if nothing looks better than the reference.
bool worth_extending(const std::vector<arm>& arms, const comparison_rules& rules) {
  const std::size_t best = leader(arms, rules.way);
  if (best == 0) return false;
  const bool sure = surely_better(arms[best], arms[0], rules.way);
  if (rules.until_one_is_left) return sure;
  return !sure && observe::sign_test_below_one(round_ratios(arms[0], arms[best], rules.way)) < promising_below;
}

}  // namespace

std::vector<double> round_ratios(const arm& one, const arm& other, observe::better way) {
  const std::size_t both = std::min(one.values.size(), other.values.size());
  if (both == 0) return {};
  return observe::ratios(std::span(one.values).first(both), std::span(other.values).first(both), way);
}

std::size_t leader(const std::vector<arm>& arms, observe::better way) {
  const auto beats = [&](std::size_t one, std::size_t other) {
    const std::vector<double> ratios = round_ratios(arms[one], arms[other], way);
    return !ratios.empty() && observe::median_interval(ratios).median > 1;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < arms.size(); ++i) {
    if (arms[i].status == arm_status::running && beats(i, 0) && beats(i, best)) best = i;
  }
  return best;
}

bool surely_better(const arm& one, const arm& other, observe::better way) {
  if (one.status != arm_status::running || other.status != arm_status::running) return false;
  const std::vector<double> ratios = round_ratios(one, other, way);
  if (ratios.empty()) return false;
  const observe::interval interval = observe::median_interval(ratios);
  return interval.coverage >= 0.95 && interval.low95 > 1;
}

bool would_drop(const arm& one, const arm& other, observe::better way) {
  return observe::sign_test_below_one(round_ratios(other, one, way)) < drop_below;
}

namespace {

comparison_end run_rounds(trial& runs, std::vector<arm>& arms, const comparison_rules& rules, const environment& world,
                          comparison_result& besides) {
  const double started = world.now();
  fairness_judge judge(rules, arms.size(), besides);
  for (unsigned round = 1; round <= rules.rounds * (1 + rules.extensions); ++round) {
    if (round > rules.rounds && (round - 1) % rules.rounds == 0 && !worth_extending(arms, rules))
      return comparison_end::complete;
    const double now = world.now();
    const double usual = round == 1 ? 0 : (now - started) / (round - 1);
    if (round > 1 && rules.deadline != 0 && now + usual > rules.deadline) {
      return round <= rules.rounds ? comparison_end::time_up : comparison_end::complete;
    }
    if (!run_round(runs, arms, round, rules, world, judge)) return comparison_end::complete;
    if (arms.front().status != arm_status::running) return comparison_end::complete;
    judge.end_round(arms, round);
    if (rules.drop && round >= first_round_that_drops) drop_losers(arms, round, rules.way);
    const unsigned challengers = running(arms) - 1;
    if (challengers == 0) return comparison_end::complete;
    if (rules.until_one_is_left && challengers == 1 && round >= min_rounds) return comparison_end::complete;
  }
  return comparison_end::complete;
}

}  // namespace

comparison_result compare_arms(trial& runs, std::vector<arm>& arms, const comparison_rules& rules,
                               const environment& world) {
  comparison_result result;
  result.end = run_rounds(runs, arms, rules, world, result);
  fairness_judge::refuse(arms, static_cast<unsigned>(arms.front().values.size()));
  return result;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
