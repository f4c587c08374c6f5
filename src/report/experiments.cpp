// SPDX-License-Identifier: Apache-2.0
// The experiments of `txsync lab`: each number of a paper with the simulated one, and the curves.
#include <algorithm>
#include <set>

#include "report/chart.hpp"
#include "report/sections.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

/// With as many digits as needed: "48", "12.15".
std::string plain(double value) {
  std::string text = figures(value);
  if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string number_text(const json& item, const char* member) {
  return item.contains(member) ? plain(number_of(item, member)) : "";
}

/// "10", "30 to 50", "at most 2".
std::string expected_text(const json& row) {
  std::string low = number_text(row, "low");
  const std::string high = number_text(row, "high");
  if (low == high) return low;
  if (low.empty()) return "at most " + high;
  return high.empty() ? "at least " + low : low + " to " + high;
}

std::string error_text(const json& row) {
  if (!row.contains("error") || number_of(row, "error") == 0) return "";
  return (number_of(row, "error") > 0 ? "+" : "") + number_text(row, "error") + " " + text_of(row, "error_unit");
}

std::string comparison_row(const json& row) {
  const std::string verdict = text_of(row, "verdict");
  const bool compared = verdict != "not simulated";
  return std::string("<tr") + (verdict == "miss" ? " class=\"bad\"" : "") + "><td class=\"w\">" +
         escaped(text_of(row, "what")) + "</td>" +
         number_cell(row.contains("simulated") ? number_text(row, "simulated")
                     : compared                ? "never"
                                               : "") +
         number_cell(expected_text(row)) + number_cell(error_text(row)) + cell(text_of(row, "standing")) +
         cell(verdict) + cell(text_of(row, "source")) + "</tr>\n";
}

std::string comparisons_table(const json& experiment) {
  const json& list = part_of(experiment, "comparisons");
  if (list.empty()) return {};
  std::string rows;
  for (const json& row : list) rows += comparison_row(row);
  return table(
      "<th>number</th><th class=\"n\">simulated</th><th class=\"n\">given</th><th class=\"n\">error</th>"
      "<th>the model is</th><th>verdict</th><th>source</th>",
      rows);
}

std::vector<double> positions_of(const json& experiment) {
  std::set<double> positions;
  for (const json& curve : part_of(experiment, "curves")) {
    for (const json& point : part_of(curve, "points")) positions.insert(number_of(point, "at"));
  }
  return {positions.begin(), positions.end()};
}

line line_of(const json& curve, const std::vector<double>& positions, const scale& unit) {
  const bool paper = text_of(curve, "kind") == "paper";
  line drawn_line{text_of(curve, "name"), std::vector<std::optional<estimate>>(positions.size()),
                  std::vector<std::string>(positions.size()), !paper};
  for (const json& point : part_of(curve, "points")) {
    const double at = number_of(point, "at");
    const auto place = static_cast<std::size_t>(std::find(positions.begin(), positions.end(), at) - positions.begin());
    const double value = number_of(point, "value") / unit.by;
    drawn_line.at[place] = estimate{value, value, value};
    drawn_line.hover[place] = drawn_line.label + " at " + plain(at) + ": " + plain(value) + " " + unit.unit;
  }
  return drawn_line;
}

double max_of_curves(const json& experiment) {
  double greatest = 0;
  for (const json& curve : part_of(experiment, "curves")) {
    for (const json& point : part_of(curve, "points")) greatest = std::max(greatest, number_of(point, "value"));
  }
  return greatest;
}

/// Empty for curves with a single position; the table shows them.
std::string curves_of(const json& experiment) {
  const std::vector<double> positions = positions_of(experiment);
  if (positions.size() < 2) return {};
  const scale unit = scale_for(max_of_curves(experiment), text_of(experiment, "unit"));
  line_chart chart;
  chart.title = text_of(experiment, "title");
  chart.description = "Lines: simulated. Marks alone: what the paper or the formula gives.";
  chart.x_axis = text_of(experiment, "axis");
  chart.y_axis = text_of(experiment, "quantity") + ", " + unit.unit;
  chart.positions = positions;
  for (const double at : positions) chart.position_words.push_back(plain(at));
  for (const json& curve : part_of(experiment, "curves")) {
    if (chart.lines.size() < max_lines && !part_of(curve, "points").empty()) {
      chart.lines.push_back(line_of(curve, positions, unit));
    }
  }
  return drawn(chart);
}

std::string notes_of(const json& experiment) {
  std::string words = text_of(experiment, "source") + ". Simulated: " + text_of(experiment, "workload") + " on " +
                      text_of(experiment, "machine");
  for (const auto& [key, value] : part_of(experiment, "changes").items()) words += ", " + key + " = " + value.dump();
  words += ".";
  if (experiment.contains("remark")) words += " " + text_of(experiment, "remark");
  return "<p class=\"note\">" + escaped(words) + "</p>\n";
}

}  // namespace

std::string experiments_section(const json& document) {
  std::string html;
  for (const json& experiment : part_of(part_of(document, "lab"), "experiments")) {
    html += "<section>" + heading(text_of(experiment, "id") + ": " + text_of(experiment, "title")) +
            notes_of(experiment) + comparisons_table(experiment) + curves_of(experiment) + "</section>\n";
  }
  return html;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
