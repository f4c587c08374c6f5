// SPDX-License-Identifier: Apache-2.0
// What happened to attempts (hardware transactions): per point, and where they ended.
#include "observe/document/end_groups.hpp"
#include "report/sections.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

std::string part(double some, double all) { return all == 0 ? "–" : percent(some / all); }

std::string attempts_row(const json& point) {
  const json& cycles = part_of(point, "cycles");
  const double attempts = number_of(point, "attempts");
  const std::string lead = "<tr>" + number_cell(text_of(point, "threads")) + cell(text_of(point, "subject"));
  if (attempts == 0) return lead + "<td colspan=\"5\">no attempts</td></tr>\n";
  return lead + number_cell(grouped(attempts)) + number_cell(part(number_of(point, "commits"), attempts)) +
         number_cell(part(number_of(cycles, "transactional"), number_of(cycles, "total"))) +
         number_cell(part(number_of(cycles, "aborted"), number_of(cycles, "total"))) + cell(causes_of_aborts(point)) +
         "</tr>\n";
}

/// The data that an abort was about: its name and its line.
std::string data_of(const json& place) {
  if (!place.contains("line")) return {};
  std::string text = place.contains("data") ? text_of(place, "data") + ", line " : "";
  text += text_of(place, "line");
  const double lines = place.contains("lines") ? number_of(place, "lines") : 1;
  return lines > 1 ? text + " and " + grouped(lines - 1) + " more" : text;
}

/// Empty for a chain of one call, which says no more than the place does.
std::string chain_of(const json& place, const char* member, const char* whose) {
  const json& calls = part_of(place, member);
  if (calls.size() < 2) return {};
  std::string text = whose;
  for (std::size_t i = 0; i < calls.size(); ++i) text += (i == 0 ? "" : " < ") + calls[i].get<std::string>();
  return "<p>" + escaped(text) + "</p>";
}

std::string calls_of(const json& place) {
  const std::string chains = chain_of(place, "own_calls", "attempt: ") + chain_of(place, "other_calls", "met by: ");
  return chains.empty() ? "" : "<details><summary>calls that led there</summary>" + chains + "</details>";
}

std::string places_rows(const json& point) {
  std::string rows;
  for (const json& place : part_of(point, "abort_places")) {
    std::string where = text_of(place, "own");
    if (place.contains("other")) where += " met " + text_of(place, "other");
    for (const char* told : {"sharing", "room"}) {
      if (place.contains(told)) where += "; " + text_of(place, told);
    }
    rows += "<tr>" + number_cell(text_of(point, "threads")) + cell(text_of(point, "subject")) +
            number_cell(grouped(number_of(place, "count"))) + cell(text_of(place, "cause")) + "<td class=\"w\">" +
            escaped(where) + calls_of(place) + "</td>" + "<td class=\"w\">" + escaped(data_of(place)) + "</td>" +
            "</tr>\n";
  }
  return rows;
}

/// What the attempts of a point were doing when they ended, grouped in each of several ways.
std::string ends_rows(const json& point) {
  constexpr std::size_t max_shown = 8;
  std::vector<observe::abort_end> ends;
  for (const json& end : part_of(point, "abort_ends")) {
    ends.push_back({text_of(end, "line"), text_of(end, "caller"), static_cast<std::uint64_t>(number_of(end, "count")),
                    text_of(end, "cause")});
  }
  std::string rows;
  for (const observe::end_group& group : observe::groups_of(ends)) {
    for (std::size_t i = 0; i < group.shares.size() && i < max_shown; ++i) {
      rows += "<tr>" + number_cell(text_of(point, "threads")) + cell(text_of(point, "subject")) + cell(group.by) +
              number_cell(percent(group.shares[i].second)) + "<td class=\"w\">" + escaped(group.shares[i].first) +
              "</td></tr>\n";
    }
  }
  return rows;
}

/// A point that could have made attempts gets a row even if it made none.
bool has_row(const json& point) {
  return point.contains("attempts") && (number_of(point, "attempts") != 0 || point.contains("speculates"));
}

/// Whether a later point has the same subject. That one has more threads and says more.
bool has_later(const json& points, std::size_t index) {
  for (std::size_t i = index + 1; i < points.size(); ++i) {
    if (text_of(points[i], "subject") == text_of(points[index], "subject")) return true;
  }
  return false;
}

}  // namespace

std::string attempts_section(const json& document) {
  if (document.contains("lab")) return {};  // the curves of its experiments show attempts
  const json& points = part_of(document, "points");
  std::string rows;
  std::string places;
  std::string ends;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (has_row(points[i])) rows += attempts_row(points[i]);
    if (has_later(points, i)) continue;
    places += places_rows(points[i]);
    ends += ends_rows(points[i]);
  }
  std::string html;
  if (!rows.empty()) {
    html += heading("Hardware transactions") +
            table(
                "<th class=\"n\">threads</th><th>lock or subject</th><th class=\"n\">attempts</th>"
                "<th class=\"n\">committed</th><th class=\"n\">of all cycles in attempts that committed</th>"
                "<th class=\"n\">that were aborted</th><th>why aborted, of all attempts</th>",
                rows);
  }
  if (!places.empty()) {
    html += heading("Where attempts ended") +
            table(
                "<th class=\"n\">threads</th><th>lock or subject</th><th class=\"n\">times</th><th>cause</th>"
                "<th>code in the attempt, and the code that met it</th><th>data</th>",
                places);
  }
  if (!ends.empty()) {
    html += heading("What attempts did when they ended") +
            table(
                "<th class=\"n\">threads</th><th>lock or subject</th><th>by</th><th class=\"n\">of the sampled "
                "aborts</th><th>code</th>",
                ends);
  }
  return html;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
