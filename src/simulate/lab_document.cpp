// SPDX-License-Identifier: Apache-2.0
// What `txsync lab` writes into the document: the points, simulated and the papers', and member `lab`, which says how
// they belong together.
#include <cmath>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "simulate/lab.hpp"
#include "simulate/simulate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
namespace {

using experiments::comparison;
using experiments::experiment;
using observe::json;

class experiment_writer {
 public:
  experiment_writer(observe::document& document, const lab_result& one)
      : document_(document), one_(one), of_(*one.of) {}

  json object() {
    json made = {{"id", of_.id},
                 {"title", of_.title},
                 {"source", of_.source},
                 {"machine", of_.machine},
                 {"workload", of_.workload},
                 {"quantity", to_string(of_.measured)},
                 {"unit", unit_of(of_.measured)},
                 {"axis", of_.along.words.empty() ? of_.along.key : of_.along.words}};
    for (const experiments::setting& change : of_.changes) made["changes"][change.key] = change.value;
    if (!of_.remark.empty()) made["remark"] = of_.remark;
    made["curves"] = curves();
    made["comparisons"] = comparisons();
    add_claims();
    return made;
  }

 private:
  double scaled(std::uint64_t position) const { return static_cast<double>(position) * of_.along.scale; }

  /// The point as `txsync sim` has it, except for what is read from it here. Of several runs, every throughput stays.
  std::size_t add(observe::point point, double value) {
    point.metric = to_string(of_.measured);
    point.unit = unit_of(of_.measured);
    point.way = of_.measured == experiments::quantity::throughput ? observe::better::higher : observe::better::lower;
    if (point.values.size() < 2 || of_.measured != experiments::quantity::throughput) point.values = {value};
    document_.points.push_back(std::move(point));
    return document_.points.size() - 1;
  }

  json curves() {
    json made = json::array();
    for (std::size_t curve = 0; curve < of_.variants.size(); ++curve) {
      json points = json::array();
      for (std::size_t place = 0; place < of_.along.positions.size(); ++place) {
        const auto& point = one_.results.points[curve][place];
        if (!point) continue;
        const std::optional<double> value = number_of(of_.measured, *point, one_.results.mhz);
        if (!value) continue;
        points.push_back(
            {{"at", scaled(of_.along.positions[place])}, {"value", *value}, {"point", add(*point, *value)}});
        indices_[{of_.variants[curve].name, of_.along.positions[place]}] = document_.points.size() - 1;
      }
      made.push_back({{"name", of_.variants[curve].name}, {"kind", "ours"}, {"points", std::move(points)}});
      add_papers_curve(made, curve);
    }
    return made;
  }

  /// The paper's numbers that are points of the same curve.
  void add_papers_curve(json& into, std::size_t curve) {
    json points = json::array();
    for (const experiments::fact& fact : of_.facts) {
      const bool of_this_curve = fact.variant == of_.variants[curve].name && fact.read == experiments::reading::value &&
                                 fact.what.value_or(of_.measured) == of_.measured;
      if (!of_this_curve || fact.expected.low != fact.expected.high) continue;
      json point = {{"at", scaled(fact.at)}, {"value", fact.expected.low}};
      if (const std::optional<std::size_t> index = add_papers_point(curve, fact)) point["point"] = *index;
      points.push_back(std::move(point));
    }
    if (points.empty()) return;
    const bool formula = of_.facts.front().how == experiments::standing::closed_form;
    into.push_back({{"name", of_.variants[curve].name + (formula ? ", formula" : ", paper")},
                    {"kind", "paper"},
                    {"points", std::move(points)}});
  }

  std::optional<std::size_t> add_papers_point(std::size_t curve, const experiments::fact& fact) {
    for (std::size_t place = 0; place < of_.along.positions.size(); ++place) {
      const auto& ours = one_.results.points[curve][place];
      if (of_.along.positions[place] != fact.at || !ours) continue;
      observe::point made;
      made.workload = ours->workload;
      made.params = ours->params;
      made.threads = ours->threads;
      made.placement = ours->placement;
      made.subject = ours->subject;
      made.kind = observe::subject_kind::paper;
      return add(std::move(made), fact.expected.low);
    }
    return std::nullopt;
  }

  json comparisons() const {
    json made = json::array();
    for (const comparison& row : one_.comparisons) {
      json item = {{"what", words_of(of_, *row.of)},
                   {"standing", to_string(row.of->how)},
                   {"verdict", row.how == experiments::verdict::miss ? "miss" : to_string(row.how)},
                   {"source", row.of->source}};
      if (row.simulated && std::isfinite(*row.simulated)) item["simulated"] = *row.simulated;
      if (std::isfinite(row.of->expected.low)) item["low"] = row.of->expected.low;
      if (std::isfinite(row.of->expected.high)) item["high"] = row.of->expected.high;
      if (row.simulated && std::isfinite(row.error)) {
        item["error"] = row.error;
        item["error_unit"] = row.in_points ? "points" : "%";
      }
      made.push_back(std::move(item));
    }
    return made;
  }

  /// For the numbers that a line of an issue asks for.
  void add_claims() {
    for (const comparison& row : one_.comparisons) {
      if (row.of->answers.empty() || !row.simulated || !std::isfinite(*row.simulated)) continue;
      observe::claim made;
      made.id = row.of->answers;
      made.words =
          fmt::format("{}: {}, simulated on {}; the {} has {} ({})", of_.id, words_of(of_, *row.of), of_.machine,
                      paper_word(row), experiments::expected_words(row.of->expected), row.of->source);
      made.value = *row.simulated;
      made.outcome = observe::judge(row.how == experiments::verdict::hit);
      made.standing = to_string(row.of->how);
      made.from = points_of(*row.of);
      set_goal(made, row);
      document_.claims.push_back(std::move(made));
    }
  }

  void set_goal(observe::claim& into, const comparison& row) const {
    const experiments::range& wanted = row.of->expected;
    const bool has_low = std::isfinite(wanted.low);
    into.goal = has_low ? wanted.low : wanted.high;
    if (wanted.low == wanted.high) {
      into.rule = row.in_points ? fmt::format("within {} points of the goal", experiments::digits(of_.allowed.points))
                                : fmt::format("within {} % of the goal", experiments::digits(of_.allowed.percent));
    } else if (has_low && std::isfinite(wanted.high)) {
      into.rule = "goal <= value <= " + experiments::digits(wanted.high);
    } else {
      into.rule = has_low ? "value >= goal" : "value <= goal";
    }
  }

  /// The points from which the number was read: for a crossing the whole curve.
  std::vector<std::size_t> points_of(const experiments::fact& fact) const {
    std::vector<std::size_t> made;
    using experiments::reading;
    if (fact.read == reading::crossing || fact.read == reading::crossing_ratio) {
      for (const auto& [place, index] : indices_) {
        if (place.first == fact.variant || place.first == fact.beside) made.push_back(index);
      }
      return made;
    }
    const auto add_index = [&](const std::string& variant, std::uint64_t at) {
      if (const auto found = indices_.find({variant, at}); found != indices_.end()) made.push_back(found->second);
    };
    add_index(fact.variant, fact.at);
    if (!fact.beside.empty()) add_index(fact.beside, fact.beside_at.value_or(fact.at));
    return made;
  }

  observe::document& document_;
  const lab_result& one_;
  const experiment& of_;
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> indices_;  ///< of points, by curve and position
};

/// The object of the one machine, or of the first one with a name that says that there are others.
json machines_object(const std::vector<lab_result>& all) {
  json made = machine_object(all.front().machine);
  std::string names = all.front().machine.name;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::string& name = all[i].machine.name;
    if (names.find(name) == std::string::npos) names += ", " + name;
  }
  made["cpu"] = names + " (simulated)";
  return made;
}

}  // namespace

const char* paper_word(const comparison& one) noexcept {
  return one.of->how == experiments::standing::closed_form ? "formula" : "paper";
}

void add_to_document(observe::document& document, const std::vector<lab_result>& all) {
  if (all.empty()) return;
  document.machine = machines_object(all);
  json list = json::array();
  for (const lab_result& one : all) list.push_back(experiment_writer(document, one).object());
  document.more["lab"] = {{"experiments", std::move(list)}};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
