// SPDX-License-Identifier: Apache-2.0
#include "tune/engine.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::tune {
namespace {

constexpr double share_of_waiting = 0.95;
constexpr double timeout_factor = 10;
constexpr double min_timeout_seconds = 10;
/// The parts of a time limit up to which phase 1 and phase 2 may go. The rest is for the proof.
constexpr double first_phase_share = 0.4;
constexpr double second_phase_share = 0.7;
/// All locks are changed only if the program is then so much faster than with some sites changed.
constexpr double min_gain_of_changing_all = 1.05;
/// The part of phase 2 that sites of the reference may use, if others may follow.
constexpr double own_sites_share = 0.6;
/// Phases 1 and 2 may add so many times as many rounds, if the planned rounds leave open which is the best.
constexpr unsigned extensions_of_choosing = 2;

std::uint64_t all_waiting(const std::vector<site_seen>& sites) {
  std::uint64_t sum = 0;
  for (const site_seen& one : sites) sum += one.counted.all_wait_ns();
  return sum;
}

void most_waiting_first(std::vector<site_seen>& sites) {
  std::stable_sort(sites.begin(), sites.end(), [](const site_seen& a, const site_seen& b) {
    return a.counted.all_wait_ns() > b.counted.all_wait_ns();
  });
}

/// How many of the sorted sites together have 95 % of all waiting; at most max_sites.
std::size_t sites_worth_trying(const std::vector<site_seen>& sites) {
  const auto enough = share_of_waiting * static_cast<double>(all_waiting(sites));
  double sum = 0;
  std::size_t count = 0;
  while (count < sites.size() && count < max_sites && sites[count].counted.all_wait_ns() != 0 && sum < enough) {
    sum += static_cast<double>(sites[count++].counted.all_wait_ns());
  }
  return count;
}

configuration with_site(configuration config, const std::string& site, const std::string& kind) {
  const auto known =
      std::find_if(config.sites.begin(), config.sites.end(), [&](const auto& one) { return one.site == site; });
  if (known == config.sites.end()) {
    config.sites.push_back({site, kind});
  } else {
    known->kind = kind;
  }
  return config;
}

const site_seen* find_site(const std::vector<site_seen>& sites, const std::string& name) {
  const auto at = std::find_if(sites.begin(), sites.end(), [&](const auto& one) { return one.counted.name == name; });
  return at == sites.end() ? nullptr : &*at;
}

/// The kind that a site has where `there` was counted: the kind that is an alternative in `elsewhere`, and not in
/// `there`. Empty if that is unknown.
std::string kind_under(const std::vector<site_seen>& there, const std::vector<site_seen>& elsewhere,
                       const std::string& site) {
  const site_seen* const own = find_site(there, site);
  const site_seen* const other = find_site(elsewhere, site);
  if (own == nullptr || other == nullptr) return {};
  std::string only_kind;
  for (const std::string& kind : other->others) {
    if (std::find(own->others.begin(), own->others.end(), kind) != own->others.end()) continue;
    if (!only_kind.empty()) return {};
    only_kind = kind;
  }
  return only_kind;
}

class tuner {
 public:
  tuner(trial& runs, const question& asked, const environment& world)
      : runs_(runs), asked_(asked), world_(world), started_(world.now()) {
    result_.reference = {asked.candidates.front(), {}};
    result_.best = result_.reference;
  }

  outcome run() {
    if (run_baseline()) {
      whole_program();
      if (asked_.by_sites && going_on()) site_by_site();
      if (!(result_.best == result_.reference) && going_on()) prove();
    }
    result_.interrupted = world_.stop();
    result_.seconds = world_.now() - started_;
    return std::move(result_);
  }

 private:
  bool going_on() const { return result_.broken.empty() && !world_.stop(); }

  bool run_baseline() {
    world_.report({"baseline run", 0, 0, name_of(result_.reference), 1});
    const measured first = runs_.run(result_.reference, asked_.seconds);
    if (world_.stop()) return false;
    timeout_seconds_ = std::max(min_timeout_seconds, timeout_factor * first.seconds);
    result_.broken = first.failure;
    if (first.failure.empty() && asked_.seconds == 0) world_.expect(expected(asked_, first.seconds));
    return first.failure.empty();
  }

  /// Runs a comparison and keeps its record. `share`: the part of the time limit that may be used up when it ends; 1:
  /// all.
  phase_record& run_comparison(std::string name, std::vector<arm> arms, double share, bool drop, bool until_one) {
    comparison_rules rules{.phase = name,
                           .way = asked_.way,
                           .rounds = asked_.rounds,
                           .extensions = drop ? extensions_of_choosing : 0,
                           .drop = drop,
                           .until_one_is_left = until_one,
                           .timeout_seconds = timeout_seconds_,
                           .fair_reference = fair_reference()};
    if (asked_.seconds != 0) rules.deadline = started_ + share * asked_.seconds;
    result_.phases.push_back({std::move(name), std::move(arms)});
    phase_record& record = result_.phases.back();
    comparison_result ended = compare_arms(runs_, record.arms, rules, world_);
    if (ended.end == comparison_end::time_up) cut_short(record);
    if (result_.unjudged.empty()) result_.unjudged = std::move(ended.reference_failure);
    if (counted_sites_.empty()) {
      counted_sites_ = std::move(ended.reference_sites);
      counted_runs_ = ended.reference_runs;
    }
    for (const arm& one : record.arms) put_refusal(one);
    const arm& reference = record.arms.front();
    if (reference.status == arm_status::failed && !world_.stop()) {
      result_.broken = fmt::format("'{}' ran before, but failed in round {} of the phase '{}': {}",
                                   name_of(reference.config), reference.ended_in, record.name, reference.reason);
    }
    return record;
  }

  /// None if no runs count for the reference.
  std::optional<configuration> fair_reference() const {
    if (!asked_.counted_reference.empty()) return configuration{asked_.counted_reference, {}};
    const bool first = result_.phases.empty();
    if (!first && result_.reference_sites.empty()) return std::nullopt;
    return result_.reference;
  }

  void put_refusal(const arm& refused) {
    if (refused.status != arm_status::refused) return;
    const auto known = std::find_if(result_.refused.begin(), result_.refused.end(),
                                    [&](const refusal& other) { return other.config == refused.config; });
    if (known == result_.refused.end()) result_.refused.push_back({refused.config, refused.reason});
  }

  void cut_short(const phase_record& record) {
    result_.cut_short.push_back({record.name, record.arms.front().values.size(), asked_.rounds});
  }

  void whole_program() {
    std::vector<arm> arms;
    arms.reserve(asked_.candidates.size());
    for (const std::string& name : asked_.candidates) arms.push_back({.config = {name, {}}});
    const phase_record& record = run_comparison("whole program", std::move(arms), first_phase_share, true, true);
    const arm& best = record.arms[leader(record.arms, asked_.way)];
    result_.best = best.config;
    whole_is_better_ = would_drop(best, record.arms.front(), asked_.way);
    result_.sites = best.sites;
    put_reference_sites(record);
    most_waiting_first(result_.reference_sites);
  }

  /// The sites of the reference, or of what counts for it: an arm, or the additional runs.
  void put_reference_sites(const phase_record& record) {
    result_.reference_sites = counted_sites_;
    result_.reference_runs = counted_runs_;
    for (const arm& candidate : record.arms) {
      const bool is_reference = &candidate == record.arms.data() && !candidate.sites.empty();
      const bool counts_for_it =
          !asked_.counted_reference.empty() && candidate.config == configuration{asked_.counted_reference, {}};
      if (!is_reference && !counts_for_it) continue;
      result_.reference_sites = candidate.sites;
      result_.reference_runs = candidate.values.size();
      return;
    }
  }

  /// The configuration in which single sites get other locks: the best so far, or what stands for the reference.
  configuration base() const {
    if (!(result_.best == result_.reference) || asked_.site_base.empty()) return result_.best;
    return {asked_.site_base, {}};
  }

  /// The sites that wait under the best so far; `sites` are the known ones. If nothing is counted under it, the sites
  /// are those of the candidate that counts for the reference, or of one run of base().
  std::vector<site_seen> waiting_sites(std::vector<site_seen> sites) {
    const bool stands_for_it = base().candidate == asked_.counted_reference;
    if (sites.empty() && stands_for_it) sites = result_.reference_sites;
    if (sites.empty() && !(base() == result_.best) && !(stands_for_it && !result_.unjudged.empty())) {
      world_.report({"looking for sites that wait", 0, 0, name_of(base()), 1});
      measured run = runs_.run(base(), timeout_seconds_);
      if (run.failure.empty() && !world_.stop()) sites = std::move(run.sites);
    }
    most_waiting_first(sites);
    return sites;
  }

  /// First it tries single sites of the reference: the smallest change is preferred. Then the best for the whole
  /// program has to be surely better than that. Its own sites are tried only if it is, or if no site was changed.
  void site_by_site() {
    const configuration whole = result_.best;
    const bool changes_all = !(whole == result_.reference);
    if (changes_all && result_.reference_sites.empty()) {
      result_.sites = waiting_sites(std::move(result_.sites));
      try_sites(result_.sites, first_phase_share, second_phase_share);
      return;
    }
    const double middle = changes_all ? first_phase_share + own_sites_share * (second_phase_share - first_phase_share)
                                      : second_phase_share;
    result_.best = result_.reference;
    std::vector<site_seen> own = waiting_sites(result_.reference_sites);
    try_sites(own, first_phase_share, middle);
    leave_out_needless_changes();
    if (!changes_all) {
      result_.sites = std::move(own);
      return;
    }
    if (result_.best == result_.reference) {
      result_.best = whole;
    } else if (whole_is_better_ && going_on()) {
      choose_between_sites_and(whole, own);
    }
    if (!(result_.best == whole) || !whole_is_better_ || !going_on()) return;
    result_.sites = waiting_sites(std::move(result_.sites));
    try_sites(result_.sites, middle, second_phase_share);
  }

  /// Changed sites are preferred, with their own kinds of lock or with those of the whole program's best. The whole
  /// program's best is taken only if it is surely better still, and by more than a little. `own`: the sites of the
  /// reference.
  void choose_between_sites_and(const configuration& whole, const std::vector<site_seen>& own) {
    std::vector<arm> arms = {{.config = result_.best}};
    configuration alike = result_.best;
    for (site_setting& one : alike.sites)
      if (std::string kind = kind_under(result_.sites, own, one.site); !kind.empty()) one.kind = std::move(kind);
    if (!(alike == result_.best)) arms.push_back({.config = alike});
    arms.push_back({.config = whole});
    const phase_record& record =
        run_comparison(std::string(sites_or_whole), std::move(arms), second_phase_share, false, false);
    const std::size_t last = record.arms.size() - 1;
    std::size_t best = 0;
    if (last == 2 && observe::median_interval(round_ratios(record.arms[1], record.arms[0], asked_.way)).median > 1)
      best = 1;
    const std::vector<double> ratios = round_ratios(record.arms[last], record.arms[best], asked_.way);
    const bool pays = surely_better(record.arms[last], record.arms[best], asked_.way) &&
                      observe::median_interval(ratios).median >= min_gain_of_changing_all;
    result_.best = record.arms[pays ? last : best].config;
  }

  /// Among many comparisons some show a gain by chance. So if several sites were changed, each change has to be surely
  /// better than all the others without it, in fresh rounds.
  void leave_out_needless_changes() {
    const std::vector<site_setting> changes = result_.best.sites;
    if (changes.size() < 2 || !going_on()) return;
    std::vector<arm> arms = {{.config = result_.best}};
    for (std::size_t i = 0; i < changes.size(); ++i) {
      configuration without = result_.best;
      without.sites.erase(without.sites.begin() + static_cast<std::ptrdiff_t>(i));
      arms.push_back({.config = std::move(without)});
    }
    const phase_record& record =
        run_comparison(std::string(each_change), std::move(arms), second_phase_share, false, false);
    result_.best.sites.clear();
    for (std::size_t i = 0; i < changes.size(); ++i) {
      if (surely_better(record.arms[0], record.arms[i + 1], asked_.way)) result_.best.sites.push_back(changes[i]);
    }
    // None is needed alone, but together they may be.
    if (result_.best.sites.empty()) result_.best.sites = changes;
  }

  /// Each site may use a part of the time in proportion to its waiting. The sites with the most waiting come first.
  void try_sites(const std::vector<site_seen>& sites, double from_share, double to_share) {
    const std::size_t count = sites_worth_trying(sites);
    double all = 0;
    for (std::size_t i = 0; i < count; ++i) all += static_cast<double>(sites[i].counted.all_wait_ns());
    double waited = 0;
    for (std::size_t i = 0; i < count && going_on(); ++i) {
      waited += static_cast<double>(sites[i].counted.all_wait_ns());
      try_site(sites[i], from_share + (to_share - from_share) * waited / all);
    }
  }

  void try_site(const site_seen& site, double share) {
    std::vector<arm> arms = {{.config = result_.best}};
    for (const std::string& kind : site.others) {
      arms.push_back({.config = with_site(base(), site.counted.name, kind)});
    }
    if (arms.size() == 1) return;
    if (asked_.seconds != 0 && world_.now() > started_ + share * asked_.seconds) {
      cut_short({"site " + site.counted.name, std::move(arms)});
      return;
    }
    const phase_record& record = run_comparison("site " + site.counted.name, std::move(arms), share, true, false);
    const std::size_t best = leader(record.arms, asked_.way);
    if (best != 0 && surely_better(record.arms[best], record.arms[0], asked_.way)) {
      result_.best = record.arms[best].config;
    }
  }

  void prove() {
    const phase_record& record =
        run_comparison("proof", {{.config = result_.reference}, {.config = result_.best}}, 1, false, false);
    const std::vector<double> ratios = round_ratios(record.arms[1], record.arms[0], asked_.way);
    if (ratios.empty()) return;
    result_.gain = observe::median_interval(ratios);
    result_.proof_rounds = static_cast<unsigned>(ratios.size());
    result_.proven = surely_better(record.arms[1], record.arms[0], asked_.way);
  }

  trial& runs_;
  const question& asked_;
  const environment& world_;
  const double started_;
  double timeout_seconds_ = min_timeout_seconds;
  bool whole_is_better_ = false;          // the leader for the whole program is better than the reference
  std::vector<site_seen> counted_sites_;  // under what counts for the reference, run beside the first comparison
  std::size_t counted_runs_ = 0;
  outcome result_;
};

}  // namespace

outcome tune(trial& runs, const question& asked, const environment& world) { return tuner(runs, asked, world).run(); }

expected_time expected(const question& asked, double run_seconds) {
  constexpr unsigned usual_arms_of_a_site = 4;  // what it has, and three other kinds of lock
  constexpr unsigned arms_of_the_proof = 2;
  const bool counts_apart = !asked.counted_reference.empty();
  const bool is_candidate =
      std::find(asked.candidates.begin(), asked.candidates.end(), asked.counted_reference) != asked.candidates.end();
  const auto runs_of = [&](std::size_t arms, bool has_counted_arm) {
    const bool also = counts_apart && !has_counted_arm;
    return static_cast<double>(arms * asked.rounds + (also ? std::min(asked.rounds, rounds_of_fair_reference) : 0));
  };
  const double whole = runs_of(asked.candidates.size(), is_candidate) + runs_of(arms_of_the_proof, false);
  const double sites = asked.by_sites ? max_sites * runs_of(usual_arms_of_a_site, false) : 0;
  return {run_seconds, whole * run_seconds, (whole + sites) * run_seconds};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
