// SPDX-License-Identifier: Apache-2.0
#include "tune/record.hpp"

#include <algorithm>
#include <cstdio>

namespace txsync::inline TXSYNC_BACKEND::tune {
namespace {

using observe::json;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string interval_words(const observe::interval& found) {
  char coverage[32];
  std::snprintf(coverage, sizeof coverage, "%.3g %%", found.coverage >= 0.95 ? 95.0 : 100 * found.coverage);
  return std::string(coverage) + " interval " + number(found.low95) + " to " + number(found.high95);
}

std::string chosen_word(const std::string& phase, const outcome& found) {
  if (phase == "proof") return found.proven ? "proven better" : "not proven better";
  return phase == "whole program" ? "best" : "taken";
}

std::string status_of(const table_row& row, const outcome& found) {
  const std::string round = std::to_string(row.what->ended_in);
  if (row.what->status == lane_status::failed) return "failed in round " + round + ": " + row.what->reason;
  if (row.what->status == lane_status::dropped) return "dropped in round " + round + ": worse with p < 0.05";
  if (row.what->status == lane_status::refused) return "refused in round " + round + ": " + row.what->reason;
  if (row.winner) return chosen_word(row.phase, found);
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

bool won(const phase_record& phase, std::size_t lane_index, const outcome& found, observe::better way) {
  if (phase.name == "proof") return lane_index == 1 && found.proven;
  if (lane_index == 0 || phase.name == each_change || leader(phase.lanes, way) != lane_index) return false;
  return phase.name == "whole program" || surely_better(phase.lanes[lane_index], phase.lanes[0], way);
}

const refusal* refusal_of(const outcome& found, const choice& what) {
  const auto at =
      std::find_if(found.refused.begin(), found.refused.end(), [&](const refusal& one) { return one.what == what; });
  return at == found.refused.end() ? nullptr : &*at;
}

/// ", except what was refused: 'tatas', 'mutex'"; empty if nothing was refused.
std::string refused_names(const outcome& found) {
  std::string names;
  for (const refusal& one : found.refused) names += (names.empty() ? "'" : ", '") + name_of(one.what) + "'";
  return names.empty() ? names : ", except what was refused: " + names;
}

bool every_candidate_failed(const outcome& found) {
  if (found.phases.empty()) return false;
  const std::vector<lane>& lanes = found.phases.front().lanes;
  return std::all_of(lanes.begin() + 1, lanes.end(), [](const lane& one) { return one.status == lane_status::failed; });
}

observe::point point_of(const table_row& row, const described& what) {
  observe::point made;
  made.workload = what.workload;
  made.params = what.params;
  made.params["phase"] = row.phase;
  made.threads = what.threads;
  made.place = what.place;
  made.subject = name_of(row.what->what);
  made.metric = what.metric;
  made.unit = what.unit;
  made.way = what.way;
  made.values = row.what->values;
  if (row.what->status == lane_status::failed)
    made.faults.push_back("round " + std::to_string(row.what->ended_in) + ": " + row.what->reason);
  for (const site_seen& site : row.what->sites) made.sites.push_back(site.counted);
  return made;
}

/// Round by round, so that the refusal can be checked.
json fairness_json(const fairness_record& record) {
  json made = {{"bad_rounds", record.bad()}};
  for (const round_fairness& one : record.rounds) {
    json round = {{"max_wait_ns", one.max_wait_ns}, {"reference_max_wait_ns", one.reference_max_wait_ns}};
    if (!one.wait_site.empty()) round["site"] = one.wait_site;
    if (!one.share_site.empty()) {
      round["slowest_thread"] = {
          {"share", one.share}, {"reference_share", one.reference_share}, {"site", one.share_site}};
    }
    if (one.is_bad()) round["bad"] = true;
    made["rounds"].push_back(std::move(round));
  }
  return made;
}

json row_json(const table_row& row) {
  json made = {{"phase", row.phase}, {"candidate", name_of(row.what->what)}, {"status", row.status}};
  if (row.reference) made["reference"] = true;
  if (row.winner) made["winner"] = true;
  if (row.what->status == lane_status::refused) made["refused"] = row.what->reason;
  if (row.slow) {
    made["slowdown"]["factor"] = row.slow->factor;
    if (!row.slow->site.empty()) {
      made["slowdown"]["site"] = row.slow->site;
      made["slowdown"]["added_wait_ns"] = row.slow->added_wait_ns;
    }
  }
  if (!row.what->fairness.rounds.empty()) made["fairness"] = fairness_json(row.what->fairness);
  if (row.ratio.median != 0) {
    made["ratio"] = row.ratio.median;
    made["low95"] = row.ratio.low95;
    made["high95"] = row.ratio.high95;
    made["coverage"] = row.ratio.coverage;
  }
  return made;
}

}  // namespace

std::vector<table_row> table_of(const outcome& found, observe::better way) {
  std::vector<table_row> table;
  for (const phase_record& phase : found.phases) {
    for (std::size_t i = 0; i < phase.lanes.size(); ++i) {
      table_row row;
      row.phase = phase.name;
      row.what = &phase.lanes[i];
      row.reference = i == 0;
      row.winner = won(phase, i, found, way);
      const std::vector<double> ratios =
          i == 0 ? std::vector<double>{} : round_ratios(phase.lanes[i], phase.lanes[0], way);
      if (!ratios.empty()) row.ratio = observe::median_interval(ratios);
      const bool is_compared = i != 0 && phase.name == "whole program" && phase.lanes[i].status != lane_status::failed;
      if (is_compared && would_drop(phase.lanes[0], phase.lanes[i], way))
        row.slow = slowdown_of(phase.lanes[i], row.ratio, found);
      row.status = status_of(row, found);
      if (row.slow) row.status += "; rejected: " + words_of(*row.slow);
      table.push_back(std::move(row));
    }
  }
  return table;
}

std::string verdict_words(const outcome& found, const described& what) {
  const std::string best = "'" + name_of(found.best) + "'";
  if (!found.broken.empty()) return "Nothing can be said: " + found.broken + ".";
  if (found.proven) {
    return best + " is " + number(found.gain.median) + " times as " + what.better_word + " as what you have (" +
           interval_words(found.gain) + ", " + std::to_string(found.proof_rounds) + " rounds).";
  }
  if (found.interrupted) return "Interrupted before a gain was proven: keep what you have.";
  if (every_candidate_failed(found)) return "Keep what you have: every candidate failed.";
  if (const refusal* const best_refused = refusal_of(found, found.best))
    return "Keep what you have: " + best + " looked best, but was refused: " + best_refused->reason + ".";
  if (found.best == found.reference) {
    return "Keep what you have: nothing that was tried is better" + refused_names(found) +
           (found.cut_short.empty() ? "." : ", but the time was up before all rounds were run.");
  }
  if (found.proof_rounds == 0) return "Keep what you have: " + best + " looked best, but it could not be proven.";
  return "Keep what you have: " + best + " looked best, but in fresh rounds a gain is not sure (" +
         number(found.gain.median) + " times as " + what.better_word + ", " + interval_words(found.gain) + ", " +
         std::to_string(found.proof_rounds) + " rounds).";
}

std::string time_words(const outcome& found) {
  if (found.cut_short.empty()) return {};
  std::string words = "The time was up before all rounds were run; the intervals cover those that were: ";
  bool too_few = false;
  for (const cut_contest& one : found.cut_short) {
    if (&one != &found.cut_short.front()) words += "; ";
    words += one.name + ", " + std::to_string(one.rounds) + " of " + std::to_string(one.of) + " rounds";
    too_few = too_few || one.rounds < min_proof_rounds;
  }
  if (!too_few) return words + ".";
  return words + ". Fewer than " + std::to_string(min_proof_rounds) + " give no interval of 95 %.";
}

std::vector<std::string> refusal_words(const outcome& found) {
  std::vector<std::string> list;
  list.reserve(found.refused.size() + 1);
  for (const refusal& one : found.refused)
    list.push_back("'" + name_of(one.what) + "' was refused: " + one.reason + ".");
  if (!found.unjudged.empty())
    list.push_back("Whether a policy lets a thread starve was not judged, as what counts for '" +
                   name_of(found.reference) + "' failed: " + found.unjudged + ".");
  return list;
}

void put(observe::document& into, const outcome& found, const described& what, const std::string& policy) {
  json made = {{"verdict", verdict_words(found, what)},
               {"proven", found.proven},
               {"reference", name_of(found.reference)},
               {"winner", name_of(found.proven ? found.best : found.reference)},
               {"metric", what.metric},
               {"unit", what.unit},
               {"better", what.way == observe::better::higher ? "higher" : "lower"}};
  if (found.proof_rounds != 0) {
    made["gain"] = {{"median", found.gain.median},
                    {"low95", found.gain.low95},
                    {"high95", found.gain.high95},
                    {"coverage", found.gain.coverage},
                    {"rounds", found.proof_rounds}};
  }
  for (const cut_contest& one : found.cut_short) {
    made["out_of_time"] = true;
    made["cut_short"].push_back({{"phase", one.name}, {"rounds", one.rounds}, {"of", one.of}});
  }
  json& rows = made["table"] = json::array();
  for (const table_row& row : table_of(found, what.way)) {
    json one = row_json(row);
    // An arm that the user's interruption kept from running is no measurement.
    if (!row.what->values.empty() || row.what->status == lane_status::failed) {
      one["point"] = into.points.size();
      into.points.push_back(point_of(row, what));
    }
    rows.push_back(std::move(one));
  }
  for (const left_out& one : what.others)
    made["left_out"].push_back({{"candidates", one.names}, {"reason", one.reason}});
  for (const refusal& one : found.refused)
    made["refused"].push_back({{"candidate", name_of(one.what)}, {"reason", one.reason}});
  if (!found.unjudged.empty()) made["unjudged"] = found.unjudged;
  for (const site_seen& site : found.sites) made["sites"].push_back(observe::to_json(site.counted));
  if (!what.warnings.empty()) made["warnings"] = what.warnings;
  if (!what.crowd.empty()) made["crowd"] = what.crowd;
  if (!policy.empty()) made["policy"] = policy;
  into.interrupted = found.interrupted;
  into.more["tune"] = std::move(made);
}

}  // namespace txsync::inline TXSYNC_BACKEND::tune
