// SPDX-License-Identifier: Apache-2.0
// A sweep: one workload with many sets of parameters, and the same subjects in each. One drawing shows where each
// subject is as good as the best, and where it is not.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "report/chart.hpp"
#include "report/sections.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

constexpr std::size_t min_rows = 4;

/// The points of one drawing. They have the same workload, place, metric and text parameters.
struct sweep {
  const json* first = nullptr;
  std::vector<const json*> points;
};

/// The text parameters, such as "machine = haswell-i7-4770". They say where it was measured; numbers are quantities.
std::string words_among_parameters(const json& point) {
  std::string text;
  for (const auto& [key, value] : part_of(point, "params").items()) {
    if (value.is_string()) text += (text.empty() ? "" : ", ") + key + " = " + value.get<std::string>();
  }
  return text;
}

std::vector<sweep> sweeps_of(const json& document) {
  std::vector<sweep> sweeps;
  std::map<std::vector<std::string>, std::size_t> known;
  for (const json& point : part_of(document, "points")) {
    if (text_of(point, "kind") == "paper") continue;
    const auto [at, fresh] =
        known.emplace(std::vector<std::string>{text_of(point, "workload"), text_of(point, "place"),
                                               text_of(point, "metric"), words_among_parameters(point)},
                      sweeps.size());
    if (fresh) sweeps.push_back({&point, {}});
    sweeps[at->second].points.push_back(&point);
  }
  return sweeps;
}

/// The numeric parameters that differ between points.
std::vector<std::string> varying(const sweep& all) {
  std::map<std::string, std::set<double>> values;
  std::vector<std::string> names;
  for (const json* point : all.points) {
    for (const auto& [key, value] : part_of(*point, "params").items()) {
      if (!value.is_number()) continue;
      if (!values.contains(key)) names.push_back(key);
      values[key].insert(value.get<double>());
    }
  }
  std::erase_if(names, [&](const std::string& name) { return values[name].size() < 2; });
  return names;
}

/// A value for each subject, row and number of threads. Rows and subjects keep their order.
struct grid {
  std::vector<std::string> names;  ///< of the parameters that identify a row
  std::vector<std::vector<double>> rows;
  std::vector<double> threads;
  std::vector<std::string> subjects;
  std::map<std::string, std::map<std::pair<std::size_t, std::size_t>, double>> medians;
  bool lower_is_better = false;

  /// The median of the best subject at a row and a number of threads; 0 if there is none.
  double best_at(const std::pair<std::size_t, std::size_t>& where) const {
    double best = 0;
    for (const auto& [subject, values] : medians) {
      const auto known = values.find(where);
      if (known == values.end()) continue;
      best = best == 0         ? known->second
             : lower_is_better ? std::min(best, known->second)
                               : std::max(best, known->second);
    }
    return best;
  }
  double part_of_best(double value, double best) const { return lower_is_better ? best / value : value / best; }
};

template <class T>
std::size_t place_of(std::vector<T>& list, const T& wanted) {
  const auto at = std::find(list.begin(), list.end(), wanted);
  if (at != list.end()) return static_cast<std::size_t>(at - list.begin());
  list.push_back(wanted);
  return list.size() - 1;
}

grid grid_of(const sweep& from) {
  grid cells;
  cells.names = varying(from);
  cells.lower_is_better = lower_is_better(*from.first);
  for (const json* point : from.points) cells.threads.push_back(number_of(*point, "threads"));
  std::sort(cells.threads.begin(), cells.threads.end());
  cells.threads.erase(std::unique(cells.threads.begin(), cells.threads.end()), cells.threads.end());
  for (const json* point : from.points) {
    const double median = number_of(*point, "median");
    if (!(median > 0) || !part_of(*point, "faults").empty()) continue;
    std::vector<double> row;
    row.reserve(cells.names.size());
    for (const std::string& name : cells.names) row.push_back(number_of(part_of(*point, "params"), name.c_str()));
    const std::size_t at = place_of(cells.rows, row);
    const std::size_t column = place_of(cells.threads, number_of(*point, "threads"));
    const std::string subject = text_of(*point, "subject");
    place_of(cells.subjects, subject);
    cells.medians[subject][{at, column}] = median;
  }
  return cells;
}

/// If not all subjects fit, those that are nearest to the best on average, in their former order.
std::vector<std::string> subjects_to_show(const grid& all) {
  std::vector<std::pair<double, std::string>> means;
  for (const std::string& subject : all.subjects) {
    double sum = 0;
    for (const auto& [where, value] : all.medians.at(subject)) sum += all.part_of_best(value, all.best_at(where));
    means.emplace_back(-sum / static_cast<double>(all.medians.at(subject).size()), subject);
  }
  std::stable_sort(means.begin(), means.end());
  means.resize(std::min(means.size(), max_panels(all.threads.size())));
  std::vector<std::string> shown;
  for (const std::string& subject : all.subjects) {
    const auto is_it = [&](const auto& one) { return one.second == subject; };
    if (std::any_of(means.begin(), means.end(), is_it)) shown.push_back(subject);
  }
  return shown;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& one : words) text += (text.empty() ? "" : " · ") + one;
  return text;
}

std::string row_label(const std::vector<double>& row) {
  std::vector<std::string> words;
  words.reserve(row.size());
  for (const double value : row) words.push_back(grouped(value));
  return joined(words);
}

map_chart::panel panel_of(const std::string& subject, const grid& all, const scale& unit) {
  map_chart::panel panel{subject, {}};
  panel.at.assign(all.rows.size(), std::vector<std::optional<map_cell>>(all.threads.size()));
  for (const auto& [where, value] : all.medians.at(subject)) {
    const double best = all.best_at(where);
    panel.at[where.first][where.second] =
        map_cell{all.part_of_best(value, best),
                 subject + ", " + joined(all.names) + ": " + row_label(all.rows[where.first]) +
                     ", threads: " + grouped(all.threads[where.second]) + ": median " + figures(value / unit.by) + " " +
                     unit.unit + ", the best has " + figures(best / unit.by)};
  }
  return panel;
}

std::string section(const sweep& from) {
  const grid all = grid_of(from);
  if (all.names.empty() || all.rows.size() < min_rows || all.subjects.size() < 2) return {};
  double greatest = 0;
  for (const auto& [subject, values] : all.medians) {
    for (const auto& [where, value] : values) greatest = std::max(greatest, value);
  }
  const scale unit = scale_for(greatest, text_of(*from.first, "unit"));
  map_chart chart;
  const std::string where = words_among_parameters(*from.first);
  chart.title = fmt::format("{} of {}{}{}: each as a part of the best, by threads", text_of(*from.first, "metric"),
                            text_of(*from.first, "workload"), where.empty() ? "" : ", ", where);
  chart.description = "A map of medians; the tables below hold the same numbers.";
  chart.row_words = joined(all.names);
  for (const auto& row : all.rows) chart.rows.push_back(row_label(row));
  for (const double count : all.threads) chart.columns.push_back(grouped(count));
  const std::vector<std::string> shown = subjects_to_show(all);
  if (shown.size() < all.subjects.size()) {
    chart.title += fmt::format("; the {} of {} that are nearest to it on average", shown.size(), all.subjects.size());
  }
  for (const std::string& subject : shown) chart.panels.push_back(panel_of(subject, all, unit));
  return drawn(chart);
}

}  // namespace

std::string sweep_section(const json& document) {
  if (document.contains("tune") || document.contains("lab")) return {};
  std::string html;
  for (const sweep& one : sweeps_of(document)) html += section(one);
  if (html.empty()) return {};
  return "<section>" + heading("Sweep") + html + "</section>\n";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
