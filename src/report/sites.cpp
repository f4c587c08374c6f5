// SPDX-License-Identifier: Apache-2.0
// What the lock sites counted.
#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/core.h>

#include "observe/commit_counts.hpp"
#include "observe/document/document.hpp"
#include "report/chart.hpp"
#include "report/sections.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

constexpr std::size_t max_rows = 40;
constexpr std::size_t max_bars = 10;

std::string percentile(const json& site, const char* member, const char* name) {
  const json& times = part_of(site, member);
  return times.contains(name) ? duration(observe::carried_figures(number_of(times, name)), 2) : "–";
}

/// Whether its waits were counted, as site_record::counts_waits().
bool counts_waits(const json& site) {
  return number_of(site, "unwatched") == 0 || number_of(site, "contended") != 0 || number_of(site, "failed_waits") != 0;
}

double contended_part(const json& site) {
  const double all = std::max(0.0, number_of(site, "acquisitions") - number_of(site, "unwatched"));
  // Acquisitions are estimated and contended ones are exact, so the quotient may exceed 1.
  return all == 0 ? 0 : std::min(1.0, number_of(site, "contended") / all);
}

/// The first columns of each table: the site, and what it was measured with.
std::string first_heads(bool with_where) {
  return std::string("<th>site</th>") + (with_where ? "<th>measured with</th>" : "");
}
std::string first_cells(const counted& counted_site, bool with_where) {
  return "<td class=\"w\">" + escaped(text_of(*counted_site.site, "name")) + "</td>" +
         (with_where ? cell(counted_site.where) : "");
}

/// A table of the first sites that have the member. `cells` gives the columns after the first ones, from the member and
/// its site. Empty if no site has it.
template <class Cells>
std::string table_of(const std::vector<counted>& list, const char* member, bool with_where, const std::string& heads,
                     Cells cells) {
  std::string rows;
  std::size_t shown = 0;
  for (const counted& one : list) {
    const json& counts = part_of(*one.site, member);
    if (counts.empty()) continue;
    if (++shown > max_rows) break;
    rows += "<tr>" + first_cells(one, with_where) + cells(counts, *one.site) + "</tr>\n";
  }
  return rows.empty() ? rows : table(first_heads(with_where) + heads, rows);
}

/// "ab, nginx": the programs that have locks of the site.
std::string programs_of(const json& site) {
  std::string names;
  for (const json& one : part_of(site, "programs")) names += (names.empty() ? "" : ", ") + one.get<std::string>();
  return names;
}

/// Whether threads of more than one program waited.
bool several_programs_waited(const std::vector<counted>& list) {
  std::set<std::string> programs;
  for (const counted& counted_site : list) {
    if (waiting_of(*counted_site.site) == 0) continue;
    for (const json& program : part_of(*counted_site.site, "programs")) programs.insert(program.get<std::string>());
  }
  return programs.size() > 1;
}

std::string row(const counted& counted_site, double all_waiting, bool with_where, bool with_programs) {
  const json& site = *counted_site.site;
  const double waiting = waiting_of(site);
  std::string html = "<tr><td class=\"w\">" + escaped(text_of(site, "name"));
  if (const std::string place = text_of(site, "where");
      !place.empty() && text_of(site, "name").find(place) == std::string::npos) {
    html += "<br><span class=\"note\">" + escaped(place) + "</span>";
  }
  if (const std::string programs = programs_of(site); with_programs && !programs.empty())
    html += "<br><span class=\"note\">locks of " + escaped(programs) + "</span>";
  if (text_of(site, "kind") == "barrier") html += "<br><span class=\"note\">barrier</span>";
  html += "</td>";
  if (with_where) html += cell(counted_site.where);
  const bool is_known = counts_waits(site);
  html += number_cell(grouped(number_of(site, "acquisitions"))) +
          number_cell(is_known ? percent(contended_part(site)) : "–") +
          number_cell(is_known ? duration(waiting) : "–") +
          number_cell(is_known && all_waiting != 0 ? percent(waiting / all_waiting) : "–") +
          number_cell(percentile(site, "wait_percentiles_ns", "p50")) +
          number_cell(percentile(site, "wait_percentiles_ns", "p99")) +
          number_cell(site.contains("max_wait_ns") ? duration(number_of(site, "max_wait_ns")) : "–") +
          number_cell(percentile(site, "hold_percentiles_ns", "p50")) +
          number_cell(percentile(site, "hold_percentiles_ns", "p99"));
  return html + "</tr>\n";
}

/// Whether the site is an atomic block, which has no lock.
bool is_block(const json& site) {
  return number_of(site, "acquisitions") == 0 && waiting_of(site) == 0 && !site.contains("condition_waits") &&
         (site.contains("speculation") || site.contains("transactions"));
}

std::string locks_table(const std::vector<counted>& list, double all_waiting, bool with_where) {
  if (list.empty()) return {};
  std::string rows;
  const bool with_programs = several_programs_waited(list);
  for (std::size_t i = 0; i < std::min(list.size(), max_rows); ++i)
    rows += row(list[i], all_waiting, with_where, with_programs);
  const std::string head =
      first_heads(with_where) +
      "<th class=\"n\">acquisitions</th><th class=\"n\">had to wait</th><th class=\"n\">waiting, total</th>"
      "<th class=\"n\">share of all waiting</th><th class=\"n\">wait p50</th><th class=\"n\">wait p99</th>"
      "<th class=\"n\">longest wait</th>"
      "<th class=\"n\">held p50</th><th class=\"n\">held p99</th>";
  std::string html = table(head, rows);
  if (list.size() > max_rows) {
    double rest = 0;
    for (std::size_t i = max_rows; i < list.size(); ++i) rest += waiting_of(*list[i].site);
    html += fmt::format("<p class=\"note\">{} further sites waited {} together.</p>\n", list.size() - max_rows,
                        duration(rest));
  }
  return html +
         "<p class=\"note\">A site is a place in the program where locks of one role are made or first taken. Waiting "
         "is summed over all threads and repetitions, and is exact; acquisitions and holding times are estimated from "
         "samples. p50 and p99: half, and 99 of 100, were shorter; they are exact to some 12 %. –: not counted.</p>\n";
}

/// As speculation_record::lost_is_vague().
std::string lost_of(const json& counts) {
  const double lost = number_of(counts, "lost_ns");
  const double error = number_of(counts, "lost_error_ns");
  if (!part_of(counts, "aborts").empty() && 2 * error >= lost) return "–";
  return duration(lost) + " ± " + duration(error, 2);
}

std::string speculation_table(const std::vector<counted>& list, bool with_where) {
  const std::string rows_html =
      table_of(list, "speculation", with_where,
               "<th class=\"n\">attempts</th><th class=\"n\">committed</th><th class=\"n\">fallbacks</th>"
               "<th class=\"n\">after attempts</th><th class=\"n\">lost</th><th>aborts, of the attempts</th>",
               [](const json& counts, const json&) {
                 const double attempts = number_of(counts, "attempts");
                 return number_cell(grouped(attempts)) +
                        number_cell(attempts == 0 ? "–" : percent(number_of(counts, "commits") / attempts)) +
                        number_cell(grouped(number_of(counts, "fallbacks"))) +
                        number_cell(grouped(number_of(counts, "failed"))) + number_cell(lost_of(counts)) +
                        cell(causes_of_aborts(counts));
               });
  if (rows_html.empty()) return {};
  return "<h3>Critical sections and atomic blocks as hardware transactions</h3>\n" + rows_html +
         "<p class=\"note\">Attempts, commits and causes are exact. Fallbacks are critical sections that took the "
         "lock, after attempts or without one; they are estimated from samples. Lost is the time in attempts that "
         "aborted, estimated from one section in " +
         std::to_string(observe::timing_period) +
         ", with its standard error. –: the error is half of it or more.</p>\n";
}

std::string transactions_table(const std::vector<counted>& list, bool with_where) {
  const std::string rows_html = table_of(
      list, "transactions", with_where,
      "<th class=\"n\">committed</th><th class=\"n\">serially</th><th class=\"n\">slept</th><th>aborts</th>",
      [](const json& counts, const json&) {
        std::string causes;
        for (const auto& [cause, count] : part_of(counts, "aborts").items()) {
          causes += (causes.empty() ? "" : ", ") + cause + " " + grouped(count.get<double>());
        }
        return number_cell(grouped(number_of(counts, "commits"))) + number_cell(grouped(number_of(counts, "alone"))) +
               number_cell(grouped(number_of(counts, "waits"))) + cell(causes.empty() ? "–" : causes);
      });
  if (rows_html.empty()) return {};
  return "<h3>Atomic blocks in software</h3>\n" + rows_html +
         "<p class=\"note\">All exact. Blocks that committed in hardware are in the table of hardware "
         "transactions.</p>\n";
}

std::string paths_table(const std::vector<counted>& list, bool with_where) {
  const std::string rows_html =
      table_of(list, "path", with_where,
               "<th class=\"n\">in hardware</th><th class=\"n\">in software</th><th class=\"n\">serially</th>"
               "<th>algorithm</th><th>prefers</th><th>why</th>",
               [](const json& path, const json& site) {
                 const json& in_software = part_of(site, "transactions");
                 return number_cell(grouped(number_of(part_of(site, "speculation"), "commits"))) +
                        number_cell(grouped(number_of(in_software, "commits"))) +
                        number_cell(grouped(number_of(in_software, "alone"))) + cell(text_of(path, "algorithm")) +
                        cell(text_of(path, "prefers")) + cell(text_of(path, "why"));
               });
  if (rows_html.empty()) return {};
  return "<h3>Atomic blocks by path</h3>\n" + rows_html +
         "<p class=\"note\">Blocks that committed, exact. Serially: of those in software, with no other block beside. "
         "Cycles are the mean of recent blocks on that path, from the beginning to the commit.</p>\n";
}

std::string warm_ups_table(const std::vector<counted>& list, bool with_where) {
  const std::string rows_html =
      table_of(list, "warm_ups", with_where,
               "<th class=\"n\">warm-ups</th><th class=\"n\">in always-abort attempts</th><th class=\"n\">time</th>"
               "<th>ends of attempts</th>",
               [](const json& one, const json&) {
                 return number_cell(grouped(number_of(one, "runs"))) +
                        number_cell(grouped(number_of(one, "attempts"))) + number_cell(duration(number_of(one, "ns"))) +
                        cell(number_of(one, "attempts") == 0 ? "–" : causes_of_aborts(one));
               });
  if (rows_html.empty()) return {};
  return "<h3>Warm-ups</h3>\n" + rows_html +
         "<p class=\"note\">Critical sections that waiters ran ahead of time, without effect. All exact. Every such "
         "attempt aborts; explicit: the section was run to its end.</p>\n";
}

std::string chart_of(const std::vector<counted>& list, double all_waiting) {
  if (list.size() < 2 || all_waiting == 0) return {};
  const scale unit = scale_for(waiting_of(*list.front().site), "ns");
  bar_chart chart;
  const std::size_t count = std::min(list.size(), max_bars);
  chart.title = count < list.size() ? fmt::format("Waiting by lock site, the {} sites that wait most", count)
                                    : "Waiting by lock site";
  chart.description = "Bars without intervals; the table above holds the same numbers.";
  chart.axis = "time that threads waited, " + unit.unit + ", all threads together";
  for (std::size_t i = 0; i < count; ++i) {
    const json& site = *list[i].site;
    const double waiting = waiting_of(site);
    if (waiting == 0) break;
    const std::string name = text_of(site, "name") + (list[i].where.empty() ? "" : " (" + list[i].where + ")");
    chart.bars.push_back({name,
                          {waiting / unit.by, 0, waiting / unit.by},
                          name + ": " + duration(waiting) + ", " + percent(waiting / all_waiting) + " of all waiting",
                          "ours",
                          false,
                          duration(waiting)});
  }
  return drawn(chart);
}

}  // namespace

std::vector<counted> sites_of(const json& document, bool always) {
  std::vector<counted> list;
  std::size_t points = 0;
  // In a tuning, every comparison counted the same sites again. The run that chose the sites to change stands for all.
  const auto tune = document.find("tune");
  if (tune != document.end()) {
    for (const json& site : part_of(*tune, "sites")) list.push_back({&site, {}});
    return list;
  }
  for (const json& point : part_of(document, "points")) {
    if (part_of(point, "sites").empty()) continue;
    ++points;
    for (const json& site : part_of(point, "sites")) {
      list.push_back({&site, text_of(point, "subject") + ", threads: " + text_of(point, "threads")});
    }
  }
  if (points == 1 && !always) {
    for (counted& one : list) one.where.clear();
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const counted& a, const counted& b) { return waiting_of(*a.site) > waiting_of(*b.site); });
  return list;
}

std::string sites_section(const json& document) {
  const std::vector<counted> list = sites_of(document);
  if (list.empty()) return {};
  std::vector<counted> locks;
  std::copy_if(list.begin(), list.end(), std::back_inserter(locks),
               [](const counted& one) { return !is_block(*one.site); });
  double all_waiting = 0;
  for (const counted& one : locks) all_waiting += waiting_of(*one.site);
  const bool with_where = !list.front().where.empty();
  return "<section>" + heading("Lock sites") + locks_table(locks, all_waiting, with_where) +
         paths_table(list, with_where) + speculation_table(list, with_where) + transactions_table(list, with_where) +
         warm_ups_table(list, with_where) + chart_of(locks, all_waiting) + "</section>\n";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
