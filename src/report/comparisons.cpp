// SPDX-License-Identifier: Apache-2.0
// What `txsync tune` compared: for each comparison, a table and a drawing of the ratios.
#include <algorithm>

#include "report/chart.hpp"
#include "report/sections.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

/// Whether the ratios of this phase are to the best configuration so far.
bool is_about_sites(const std::string& phase) {
  return phase.starts_with("site ") || phase.starts_with("changed sites ");
}

std::string phase_title(const std::string& phase) {
  if (phase == "proof") return "The proof: what came out against what you have, in fresh rounds";
  if (phase == "whole program") return "Candidates for the whole program";
  if (phase.starts_with("site ")) return "Other locks at " + phase;
  if (phase == "changed sites one fewer") return "Is each changed site needed? One left out in turn";
  if (is_about_sites(phase)) return "Changed sites, or a candidate for the whole program";
  return phase;
}

/// The point that a row of the table comes from; null if it never ran.
const json* point_of(const json& document, const json& row) {
  const auto at = row.find("point");
  if (at == row.end()) return nullptr;
  const json& points = part_of(document, "points");
  const auto index = at->get<std::size_t>();
  return index < points.size() ? &points[index] : nullptr;
}

double max_value(const json& document) {
  double greatest = 0;
  for (const json& point : part_of(document, "points")) greatest = std::max(greatest, number_of(point, "high"));
  return greatest;
}

/// The median over a row's rounds; an empty cell if nothing was counted.
std::string max_wait_text(const json& row) {
  const auto fairness = row.find("fairness");
  if (fairness == row.end()) return "<td></td>";
  std::vector<double> waits;
  for (const json& round : part_of(*fairness, "rounds")) waits.push_back(number_of(round, "max_wait_ns"));
  return waits.empty() ? "<td></td>" : number_cell(duration(observe::summarize(waits).median));
}

std::string row_html(const json& document, const json& row, const scale& unit) {
  const std::string status = text_of(row, "status");
  const json* point = point_of(document, row);
  const std::vector<double> values =
      point == nullptr ? std::vector<double>{} : part_of(*point, "values").get<std::vector<double>>();
  std::string html = std::string("<tr") +
                     (status.starts_with("failed") || row.contains("refused") ? " class=\"bad\""
                      : row.contains("winner")                                ? " class=\"best\""
                                                                              : "") +
                     ">";
  html += "<td class=\"w\">" + escaped(text_of(row, "candidate")) + "</td>";
  if (values.empty()) {
    html += "<td></td><td></td>";
  } else {
    const observe::interval middle = observe::median_interval(values);
    html += number_cell(figures(middle.median / unit.by));
    html += number_cell(figures(middle.low95 / unit.by) + " to " + figures(middle.high95 / unit.by));
  }
  if (row.contains("ratio")) {
    html += number_cell(figures(number_of(row, "ratio"))) +
            number_cell(figures(number_of(row, "low95")) + " to " + figures(number_of(row, "high95")));
  } else {
    html += "<td></td><td></td>";
  }
  html += number_cell(std::to_string(values.size()));
  html += max_wait_text(row);
  return html + "<td class=\"w\">" + escaped(status) + "</td></tr>\n";
}

std::string ratios_chart(const std::vector<const json*>& rows, const std::string& phase, const std::string& reference) {
  bar_chart chart;
  chart.title = phase_title(phase) + ": ratio to " + (is_about_sites(phase) ? "the best so far" : "what you have");
  chart.description = "Bars with the interval of the ratio by rounds; the table above holds the same numbers.";
  chart.axis = "ratio by rounds to '" + shortened(reference, 40) + "'; more than 1 is better";
  chart.marker = 1;
  chart.marker_words = "1 = no change";
  for (const json* row : rows) {
    if (!row->contains("ratio")) continue;
    const std::string name = text_of(*row, "candidate");
    const estimate ratio{number_of(*row, "ratio"), number_of(*row, "low95"), number_of(*row, "high95")};
    std::string hover = name + ": ";
    hover += ratio_words(ratio.value, ratio.low, ratio.high, number_of(*row, "coverage"));
    hover += " times as good as " + reference + "; ";
    hover += text_of(*row, "status");
    chart.bars.push_back({name, ratio, hover, row->contains("winner") ? "best" : "ours", ratio.low != ratio.high});
  }
  return drawn(chart);
}

std::string comparison_html(const json& document, const std::vector<const json*>& rows, const scale& unit) {
  const std::string phase = text_of(*rows.front(), "phase");
  std::string body;
  for (const json* row : rows) body += row_html(document, *row, unit);
  const std::string words = escaped(unit.unit);
  const std::string reference = text_of(*rows.front(), "candidate");
  const std::string head = "<th>candidate</th><th class=\"n\">median, " + words + "</th><th class=\"n\">interval, " +
                           words +
                           "</th><th class=\"n\">ratio</th><th class=\"n\">interval of the ratio</th>"
                           "<th class=\"n\">rounds</th><th class=\"n\">longest wait</th><th>status</th>";
  return "<h3>" + escaped(phase_title(phase)) + "</h3>\n" + table(head, body) + ratios_chart(rows, phase, reference);
}

}  // namespace

std::string comparisons_section(const json& document) {
  const auto tune = document.find("tune");
  if (tune == document.end()) return {};
  const json& rows = part_of(*tune, "table");
  const scale unit = scale_for(max_value(document), text_of(*tune, "unit"));
  // The proof comes first, because the verdict comes from it.
  std::vector<std::vector<const json*>> phases;
  for (const json& row : rows) {
    if (phases.empty() || text_of(*phases.back().front(), "phase") != text_of(row, "phase")) phases.emplace_back();
    phases.back().push_back(&row);
  }
  std::stable_partition(phases.begin(), phases.end(),
                        [](const auto& one) { return text_of(*one.front(), "phase") == "proof"; });
  std::string html = "<section>" + heading("What was compared");
  html += "<p class=\"note\">" + escaped(text_of(*tune, "metric")) + "; " +
          (lower_is_better(*tune) ? "lower" : "higher") +
          " is better. The first row of each table is what the others are compared with. The ratio is formed in each "
          "round; the table has its median and the median's interval. More than 1 is better. The longest wait is that "
          "of a single thread for a lock, the median over the rounds.</p>\n";
  for (const json& one : part_of(*tune, "refused")) {
    html += "<p>" + escaped("'" + text_of(one, "candidate") + "' was refused: " + text_of(one, "reason")) + ".</p>\n";
  }
  if (const std::string why = text_of(*tune, "unjudged"); !why.empty())
    html += "<p>Whether a candidate lets a thread starve was not judged: " + escaped(why) + ".</p>\n";
  for (const auto& one : phases) html += comparison_html(document, one, unit);
  if (phases.empty()) html += "<p>Nothing was measured.</p>\n";
  if (const std::string policy = text_of(*tune, "policy"); !policy.empty()) {
    html += "<h3>The policy that came out</h3>\n<pre>" + escaped(policy) + "</pre>\n";
  }
  return html + "</section>\n";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
