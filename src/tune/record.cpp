// SPDX-License-Identifier: Apache-2.0
#include "tune/record.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::tune {
namespace {

using observe::json;

std::string chosen_word(const std::string& phase, const outcome& result) {
  if (phase == "proof") return result.proven ? "proven better" : "not proven better";
  return phase == "whole program" ? "best" : "taken";
}

std::string status_of(const table_row& row, const outcome& result) {
  const unsigned round = row.arm->ended_in;
  if (row.arm->status == arm_status::failed) return fmt::format("failed in round {}: {}", round, row.arm->reason);
  if (row.arm->status == arm_status::dropped) return fmt::format("dropped in round {}: worse with p < 0.05", round);
  if (row.arm->status == arm_status::refused) return fmt::format("refused in round {}: {}", round, row.arm->reason);
  if (row.winner) return chosen_word(row.phase, result);
  if (row.reference) {
    const bool is_about_sites =
        row.phase.starts_with("site ") || row.phase == sites_or_whole || row.phase == each_change;
    return is_about_sites ? "the best so far" : "what you have";
  }
  if (row.phase == each_change) {
    const bool is_worse = row.ratio.coverage >= 0.95 && row.ratio.high95 < 1;
    return is_worse ? "worse: the change is needed" : "not surely worse: the change is left out";
  }
  return row.phase == "proof"           ? "not proven better"
         : row.phase == "whole program" ? "not the best"
                                        : "not surely better";
}

bool won(const phase_record& phase, std::size_t arm_index, const outcome& result, observe::better way) {
  if (phase.name == "proof") return arm_index == 1 && result.proven;
  if (arm_index == 0 || phase.name == each_change || leader(phase.arms, way) != arm_index) return false;
  return phase.name == "whole program" || surely_better(phase.arms[arm_index], phase.arms[0], way);
}

const refusal* refusal_of(const outcome& result, const configuration& config) {
  const auto at = std::find_if(result.refused.begin(), result.refused.end(),
                               [&](const refusal& one) { return one.config == config; });
  return at == result.refused.end() ? nullptr : &*at;
}

/// ", except what was refused: 'tatas', 'mutex'"; empty if nothing was refused.
std::string refused_names(const outcome& result) {
  std::string names;
  for (const refusal& one : result.refused) names += (names.empty() ? "'" : ", '") + name_of(one.config) + "'";
  return names.empty() ? names : ", except what was refused: " + names;
}

bool every_candidate_failed(const outcome& result) {
  if (result.phases.empty()) return false;
  const std::vector<arm>& arms = result.phases.front().arms;
  return std::all_of(arms.begin() + 1, arms.end(), [](const arm& one) { return one.status == arm_status::failed; });
}

observe::point point_of(const table_row& row, const described& tuned) {
  observe::point point;
  point.workload = tuned.workload;
  point.params = tuned.params;
  point.params["phase"] = row.phase;
  point.threads = tuned.threads;
  point.placement = tuned.placement;
  point.subject = name_of(row.arm->config);
  point.metric = tuned.metric;
  point.unit = tuned.unit;
  point.way = tuned.way;
  point.values = row.arm->values;
  if (row.arm->status == arm_status::failed)
    point.faults.push_back(fmt::format("round {}: {}", row.arm->ended_in, row.arm->reason));
  for (const site_seen& site : row.arm->sites) point.sites.push_back(site.counted);
  return point;
}

/// Round by round, so that the refusal can be checked.
json fairness_json(const fairness_record& record) {
  json fairness = {{"bad_rounds", record.bad()}};
  for (const round_fairness& judged : record.rounds) {
    json round = {{"max_wait_ns", judged.max_wait_ns}, {"reference_max_wait_ns", judged.reference_max_wait_ns}};
    if (!judged.wait_site.empty()) round["site"] = judged.wait_site;
    if (!judged.share_site.empty()) {
      round["slowest_thread"] = {
          {"share", judged.share}, {"reference_share", judged.reference_share}, {"site", judged.share_site}};
    }
    if (judged.is_bad()) round["bad"] = true;
    fairness["rounds"].push_back(std::move(round));
  }
  return fairness;
}

json row_json(const table_row& row) {
  json line = {{"phase", row.phase}, {"candidate", name_of(row.arm->config)}, {"status", row.status}};
  if (row.reference) line["reference"] = true;
  if (row.winner) line["winner"] = true;
  if (row.arm->status == arm_status::refused) line["refused"] = row.arm->reason;
  if (row.slow) {
    line["slowdown"]["factor"] = row.slow->factor;
    if (!row.slow->site.empty()) {
      line["slowdown"]["site"] = row.slow->site;
      line["slowdown"]["added_wait_ns"] = row.slow->added_wait_ns;
    }
  }
  if (!row.arm->fairness.rounds.empty()) line["fairness"] = fairness_json(row.arm->fairness);
  if (row.ratio.median != 0) {
    line["ratio"] = row.ratio.median;
    line["low95"] = row.ratio.low95;
    line["high95"] = row.ratio.high95;
    line["coverage"] = row.ratio.coverage;
  }
  return line;
}

}  // namespace

std::vector<table_row> table_of(const outcome& result, observe::better way) {
  std::vector<table_row> table;
  for (const phase_record& phase : result.phases) {
    for (std::size_t i = 0; i < phase.arms.size(); ++i) {
      table_row row;
      row.phase = phase.name;
      row.arm = &phase.arms[i];
      row.reference = i == 0;
      row.winner = won(phase, i, result, way);
      const std::vector<double> ratios =
          i == 0 ? std::vector<double>{} : round_ratios(phase.arms[i], phase.arms[0], way);
      if (!ratios.empty()) row.ratio = observe::median_interval(ratios);
      const bool is_compared = i != 0 && phase.name == "whole program" && phase.arms[i].status != arm_status::failed;
      if (is_compared && would_drop(phase.arms[0], phase.arms[i], way))
        row.slow = slowdown_of(phase.arms[i], row.ratio, result);
      row.status = status_of(row, result);
      if (row.slow) row.status += "; rejected: " + words_of(*row.slow);
      table.push_back(std::move(row));
    }
  }
  return table;
}

std::string verdict_words(const outcome& result, const described& tuned) {
  const std::string best = "'" + name_of(result.best) + "'";
  const observe::interval& gain = result.gain;
  const std::string times = fmt::format("{:.3g} times as {}", gain.median, tuned.better_word);
  const std::string measured =
      fmt::format("{:.3g} % interval {:.3g} to {:.3g}, {} rounds", gain.coverage >= 0.95 ? 95.0 : 100 * gain.coverage,
                  gain.low95, gain.high95, result.proof_rounds);
  if (!result.broken.empty()) return fmt::format("Nothing can be said: {}.", result.broken);
  if (result.proven) return fmt::format("{} is {} as what you have ({}).", best, times, measured);
  if (result.interrupted) return "Interrupted before a gain was proven: keep what you have.";
  if (every_candidate_failed(result)) return "Keep what you have: every candidate failed.";
  if (const refusal* const best_refused = refusal_of(result, result.best))
    return fmt::format("Keep what you have: {} looked best, but was refused: {}.", best, best_refused->reason);
  if (result.best == result.reference) {
    return fmt::format("Keep what you have: nothing that was tried is better{}{}.", refused_names(result),
                       result.cut_short.empty() ? "" : ", but the time was up before all rounds were run");
  }
  if (result.proof_rounds == 0)
    return fmt::format("Keep what you have: {} looked best, but it could not be proven.", best);
  return fmt::format("Keep what you have: {} looked best, but in fresh rounds a gain is not sure ({}, {}).", best,
                     times, measured);
}

std::string time_words(const outcome& result) {
  if (result.cut_short.empty()) return {};
  std::string words = "The time was up before all rounds were run; the intervals cover those that were: ";
  bool too_few = false;
  for (const cut_comparison& comparison : result.cut_short) {
    if (&comparison != &result.cut_short.front()) words += "; ";
    words += fmt::format("{}, {} of {} rounds", comparison.name, comparison.rounds, comparison.of);
    too_few = too_few || comparison.rounds < min_proof_rounds;
  }
  if (!too_few) return words + ".";
  return words + fmt::format(". Fewer than {} give no interval of 95 %.", min_proof_rounds);
}

std::vector<std::string> refusal_words(const outcome& result) {
  std::vector<std::string> list;
  list.reserve(result.refused.size() + 1);
  for (const refusal& one : result.refused)
    list.push_back(fmt::format("'{}' was refused: {}.", name_of(one.config), one.reason));
  if (!result.unjudged.empty())
    list.push_back(
        fmt::format("Whether a policy lets a thread starve was not judged, as what counts for '{}' failed: {}.",
                    name_of(result.reference), result.unjudged));
  return list;
}

void put(observe::document& into, const outcome& result, const described& tuned, const std::string& policy) {
  json section = {{"verdict", verdict_words(result, tuned)},
                  {"proven", result.proven},
                  {"reference", name_of(result.reference)},
                  {"winner", name_of(result.proven ? result.best : result.reference)},
                  {"metric", tuned.metric},
                  {"unit", tuned.unit},
                  {"better", tuned.way == observe::better::higher ? "higher" : "lower"}};
  if (result.proof_rounds != 0) {
    section["gain"] = {{"median", result.gain.median},
                       {"low95", result.gain.low95},
                       {"high95", result.gain.high95},
                       {"coverage", result.gain.coverage},
                       {"rounds", result.proof_rounds}};
  }
  for (const cut_comparison& comparison : result.cut_short) {
    section["out_of_time"] = true;
    section["cut_short"].push_back({{"phase", comparison.name}, {"rounds", comparison.rounds}, {"of", comparison.of}});
  }
  json& rows = section["table"] = json::array();
  for (const table_row& row : table_of(result, tuned.way)) {
    json member = row_json(row);
    // An arm that the user's interruption kept from running is no measurement.
    if (!row.arm->values.empty() || row.arm->status == arm_status::failed) {
      member["point"] = into.points.size();
      into.points.push_back(point_of(row, tuned));
    }
    rows.push_back(std::move(member));
  }
  for (const left_out& one : tuned.others)
    section["left_out"].push_back({{"candidates", one.names}, {"reason", one.reason}});
  for (const refusal& one : result.refused)
    section["refused"].push_back({{"candidate", name_of(one.config)}, {"reason", one.reason}});
  if (!result.unjudged.empty()) section["unjudged"] = result.unjudged;
  for (const site_seen& site : result.sites) section["sites"].push_back(observe::to_json(site.counted));
  if (!tuned.warnings.empty()) section["warnings"] = tuned.warnings;
  if (!tuned.crowd.empty()) section["crowd"] = tuned.crowd;
  if (!policy.empty()) section["policy"] = policy;
  into.interrupted = result.interrupted;
  into.more["tune"] = std::move(section);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
