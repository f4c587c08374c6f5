// SPDX-License-Identifier: Apache-2.0
// The first sentence of the page.
#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/core.h>

#include "report/sections.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

using mood = verdict::mood;

std::string plural(std::size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

/// The subjects that failed their own check. This comes first, whatever else was measured.
std::string failures(const json& document) {
  std::vector<std::string> names;
  for (const json& point : part_of(document, "points")) {
    const std::string name = text_of(point, "subject");
    if (part_of(point, "faults").empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    names.push_back(name);
  }
  if (names.empty()) return {};
  std::string words = "Failed: ";
  for (std::size_t i = 0; i < names.size(); ++i) words += (i == 0 ? "" : ", ") + names[i];
  return words + ". ";
}

/// Simulated numbers by their standing. A number that the model was fitted to, or that follows from the model, proves
/// nothing about the model.
class standings {
 public:
  void add(const std::string& standing, bool met) {
    for (kind& standing_kind : kinds_) {
      if (standing != standing_kind.standing) continue;
      ++standing_kind.all;
      standing_kind.met += met ? 1 : 0;
    }
  }
  bool has_evidence() const { return kinds_[0].met != 0; }
  /// "1 of 2 held out, 3 of 3 that the model was fitted to"; empty if no number has a standing.
  std::string words() const {
    std::string text;
    for (const kind& standing_kind : kinds_) {
      if (standing_kind.all == 0) continue;
      text += fmt::format("{}{} of {}{}", text.empty() ? "" : ", ", standing_kind.met, standing_kind.all,
                          standing_kind.words);
    }
    return text.empty() || kinds_[0].all != 0 ? text : "none is held out, " + text;
  }

 private:
  struct kind {
    const char* standing;
    const char* words;
    std::size_t met = 0;
    std::size_t all = 0;
  };
  kind kinds_[3] = {{"held out", " held out"},
                    {"fit", " that the model was fitted to"},
                    {"closed form", " that follow from the model"}};
};

/// "A1-4, B-4 (3)": an id that several claims have is followed by their number.
std::string ids_of(const json& claims, std::string_view outcome) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const json& claim : claims) {
    if (text_of(claim, "rule") == observe::no_goal || outcome_of(claim) != outcome) continue;
    const std::string id = text_of(claim, "id");
    const auto same = std::find_if(counts.begin(), counts.end(), [&](const auto& known) { return known.first == id; });
    if (same == counts.end()) {
      counts.emplace_back(id, 1);
    } else {
      ++same->second;
    }
  }
  std::string words;
  for (const auto& [id, count] : counts) {
    words += (words.empty() ? "" : ", ") + id + (count == 1 ? "" : fmt::format(" ({})", count));
  }
  return words;
}

verdict of_claims(const json& document) {
  const json& claims = part_of(document, "claims");
  const bool simulated = document.contains("lab");
  std::size_t holding = 0;
  std::size_t asking = 0;
  standings by;
  for (const json& claim : claims) {
    if (text_of(claim, "rule") == observe::no_goal) continue;
    const bool holds = outcome_of(claim) == "holds";
    ++asking;
    holding += holds ? 1 : 0;
    by.add(text_of(claim, "standing"), holds);
  }
  std::string words = fmt::format("{}{} of {} {}", simulated ? "Simulated: " : "", holding, plural(asking, "claim"),
                                  holding == 1 ? "holds" : "hold");
  if (const std::string parts = by.words(); !parts.empty()) words += " (" + parts + ")";
  const std::string missed = ids_of(claims, "missed");
  const std::string undecided = ids_of(claims, "undecided");
  if (!missed.empty()) words += "; missed: " + missed;
  if (!undecided.empty()) words += "; undecided: " + undecided;
  if (!missed.empty()) return {words + ".", mood::bad};
  const bool proven = undecided.empty() && (!simulated || by.has_evidence());
  return {words + ".", proven ? mood::good : mood::plain};
}

/// Where the waiting is concentrated; empty if nothing waited.
std::string of_sites(const json& document) {
  double all = 0;
  double most = 0;
  const json* worst = nullptr;
  for (const json& point : part_of(document, "points")) {
    for (const json& site : part_of(point, "sites")) {
      const double waiting = waiting_of(site);
      all += waiting;
      if (worst != nullptr && waiting <= most) continue;
      most = waiting;
      worst = &site;
    }
  }
  if (worst == nullptr) return {};
  if (all == 0) return "No thread waited for a lock.";
  return fmt::format("Threads waited {} for locks in total, {} of it at {}.", duration(all), percent(most / all),
                     text_of(*worst, "name"));
}

struct ranking {
  const json* best = nullptr;
  const json* ours = nullptr;  ///< the default lock
  std::vector<const json*> peers;
  std::size_t count = 0;
};

double middle_of(const json& point) { return number_of(point, "median"); }

/// The points of the first workload at the largest number of threads.
ranking ranked(const json& points) {
  const json& first = points.front();
  const auto comparable = [&](const json& point) {
    return text_of(point, "workload") == text_of(first, "workload") &&
           text_of(point, "metric") == text_of(first, "metric") &&
           part_of(point, "params") == part_of(first, "params") && part_of(point, "faults").empty() &&
           !part_of(point, "values").empty();
  };
  double threads = 0;
  for (const json& point : points) {
    if (comparable(point)) threads = std::max(threads, number_of(point, "threads"));
  }
  ranking result;
  for (const json& point : points) {
    if (!comparable(point) || number_of(point, "threads") != threads || text_of(point, "subject") == "none") continue;
    ++result.count;
    const bool lower = lower_is_better(point);
    if (result.best == nullptr ||
        (lower ? middle_of(point) < middle_of(*result.best) : middle_of(point) > middle_of(*result.best)))
      result.best = &point;
    if (text_of(point, "subject") == "txsync::mutex") result.ours = &point;
    if (text_of(point, "kind") == "peer") result.peers.push_back(&point);
  }
  return result;
}

/// The default lock compared with the best other lock; empty if they cannot be compared by rounds.
std::string against_peers(const ranking& ranks) {
  if (ranks.ours == nullptr || ranks.peers.empty()) return {};
  const auto ours = part_of(*ranks.ours, "values").get<std::vector<double>>();
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;
  for (const json* peer : ranks.peers) {
    names.push_back(text_of(*peer, "subject"));
    values.push_back(part_of(*peer, "values").get<std::vector<double>>());
    if (values.back().size() != ours.size()) return {};
  }
  if (ours.size() < 4) return {};
  std::vector<observe::peer_values> peers;
  peers.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) peers.push_back({names[i], values[i]});
  const bool lower = lower_is_better(*ranks.ours);
  const auto result =
      observe::compare_to_best_peer(ours, peers, lower ? observe::better::lower : observe::better::higher);
  const observe::interval& ratio = result.ratio;
  return fmt::format(" txsync::mutex was {} times as good as the best of the others, {}.",
                     ratio_words(ratio.median, ratio.low95, ratio.high95, ratio.coverage), result.peer_name);
}

std::string of_points(const json& points) {
  const ranking ranks = ranked(points);
  if (ranks.best == nullptr) return "Nothing could be measured.";
  const json& best = *ranks.best;
  const scale unit = scale_for(middle_of(best), text_of(best, "unit"));
  const std::string value = fmt::format("{} {}", figures(middle_of(best) / unit.by), unit.unit);
  if (ranks.count == 1) {
    return fmt::format("{} with {}: {} {} (median).", text_of(best, "workload"), text_of(best, "subject"),
                       text_of(best, "metric"), value);
  }
  return fmt::format("On {} with {}, {} had the best median of {}: {}.{}", text_of(best, "workload"),
                     plural(static_cast<std::size_t>(number_of(best, "threads")), "thread"), text_of(best, "subject"),
                     ranks.count, value, against_peers(ranks));
}

/// How many of the papers' numbers were met. A miss is a result, not a fault.
std::string of_experiments(const json& lab) {
  std::size_t hits = 0;
  std::size_t misses = 0;
  std::size_t experiments = 0;
  standings by;
  for (const json& experiment : part_of(lab, "experiments")) {
    ++experiments;
    for (const json& row : part_of(experiment, "comparisons")) {
      const std::string verdict = text_of(row, "verdict");
      if (verdict != "hit" && verdict != "miss") continue;
      ++(verdict == "hit" ? hits : misses);
      by.add(text_of(row, "standing"), verdict == "hit");
    }
  }
  const std::string parts = by.words();
  return fmt::format("Simulated: of {} in {} {} were hit{} and {} missed.", plural(hits + misses, "number"),
                     plural(experiments, "experiment"), hits, parts.empty() ? "" : fmt::format(" ({})", parts), misses);
}

verdict of_machine(const json& document) {
  const json& htm = part_of(part_of(document, "machine"), "htm");
  const std::string words = text_of(htm, "what");
  return {words.empty() ? "This document has no measurements." : words, mood::plain};
}

}  // namespace

std::string outcome_of(const json& claim) {
  std::string word = text_of(claim, "outcome");
  if (!word.empty()) return word;
  return part_of(claim, "holds").get<bool>() ? "holds" : "missed";
}

std::string interval_name(double coverage) { return coverage >= 0.95 ? "95 % interval " : "from least to greatest "; }

std::string ratio_words(double value, double low, double high, double coverage) {
  if (coverage == 0) return figures(value, 3);
  return fmt::format("{} ({}{} to {})", figures(value, 3), interval_name(coverage), figures(low, 3), figures(high, 3));
}

std::string verb_of(const json& document) {
  const json& command = part_of(document, "command");
  if (command.empty()) return "txsync";
  std::string program = command[0].get<std::string>();
  program = program.substr(program.rfind('/') + 1);
  return program == "txsync" && command.size() > 1 ? "txsync " + command[1].get<std::string>() : program;
}

verdict verdict_of(const json& document) {
  const json& points = part_of(document, "points");
  if (const auto tune = document.find("tune"); tune != document.end()) {
    const bool proven = part_of(*tune, "proven").get<bool>();
    return {text_of(*tune, "verdict"), proven ? mood::good : mood::plain};
  }
  if (document.contains("explore")) return verdict_of_exploration(document);
  const std::string failed = failures(document);
  if (!part_of(document, "claims").empty()) {
    verdict summary = of_claims(document);
    summary.words = failed + summary.words;
    if (!failed.empty()) summary.how = mood::bad;
    return summary;
  }
  if (points.empty()) return of_machine(document);
  if (document.contains("lab"))
    return {failed + of_experiments(document["lab"]), failed.empty() ? mood::plain : mood::bad};
  std::string words;
  if (verb_of(document) == "txsync run") words = of_sites(document);
  if (words.empty()) words = of_points(points);
  return {failed + words, failed.empty() ? mood::plain : mood::bad};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
