// SPDX-License-Identifier: Apache-2.0
// What was measured: a table and a drawing for each workload with its parameters.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "report/chart.hpp"
#include "report/sections.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

/// Points that can be compared: equal workload, parameters, place and metric.
struct group {
  const json* first = nullptr;
  std::vector<const json*> points;
};

std::string group_key(const json& point) {
  return text_of(point, "workload") + '\n' + part_of(point, "params").dump() + '\n' + text_of(point, "place") + '\n' +
         text_of(point, "metric") + '\n' + text_of(point, "unit");
}

std::vector<group> groups_of(const json& document) {
  std::vector<group> groups;
  std::map<std::string, std::size_t> known;
  for (const json& point : part_of(document, "points")) {
    const auto [at, fresh] = known.emplace(group_key(point), groups.size());
    if (fresh) groups.push_back({&point, {}});
    groups[at->second].points.push_back(&point);
  }
  return groups;
}

std::vector<double> values_of(const json& point) { return part_of(point, "values").get<std::vector<double>>(); }

/// What a table shows of a point.
struct shown {
  const json* point = nullptr;
  observe::interval middle;
  std::size_t rounds = 0;
  bool failed = false;
};

shown shown_of(const json& point) {
  shown result;
  result.point = &point;
  const std::vector<double> values = values_of(point);
  result.rounds = values.size();
  result.failed = !part_of(point, "faults").empty();
  if (!values.empty()) result.middle = observe::median_interval(values);
  return result;
}

/// The best median for each number of threads, without points that failed.
std::map<double, const json*> best_by_threads(const std::vector<shown>& list) {
  std::map<double, const json*> best;
  std::map<double, double> median;
  for (const shown& candidate : list) {
    if (candidate.failed || candidate.rounds == 0) continue;
    const double threads = number_of(*candidate.point, "threads");
    const bool better =
        !best.contains(threads) || (lower_is_better(*candidate.point) ? candidate.middle.median < median[threads]
                                                                      : candidate.middle.median > median[threads]);
    if (!better) continue;
    best[threads] = candidate.point;
    median[threads] = candidate.middle.median;
  }
  return best;
}

std::string kind_words(const json& point) {
  const std::string kind = text_of(point, "kind");
  if (kind == "peer") return "other";
  return kind == "ours" ? "txsync" : kind;
}

/// "A to B"; "–" for a single value, which has no interval.
std::string interval_text(const shown& measured, const scale& unit) {
  if (measured.rounds < 2) return "–";
  return figures(measured.middle.low95 / unit.by) + " to " + figures(measured.middle.high95 / unit.by);
}

/// The columns of a table besides the values.
struct columns {
  bool fairness = false;
  bool shares = false;
  bool waits = false;
  bool latency = false;
};

columns columns_of(const std::vector<shown>& list) {
  columns present;
  for (const shown& measured : list) {
    present.fairness = present.fairness || measured.point->contains("thread_operations");
    present.shares = present.shares || measured.point->contains("fairness");
    present.waits = present.waits || measured.point->contains("waits");
    present.latency = present.latency || measured.point->contains("latency_ns");
  }
  return present;
}

/// Empty if the threads' operations are unknown.
std::string fairness_text(const json& point) {
  const json& turns = part_of(point, "thread_operations");
  const auto fewest = part_of(turns, "fewest").get<std::vector<std::uint64_t>>();
  if (fewest.empty()) return {};
  return fmt::format("{:.2f}", observe::fairness(fewest, part_of(turns, "most").get<std::vector<std::uint64_t>>()));
}

/// The median over repetitions of a list in the point; empty if there is none.
std::string median_cell(const json& point, const char* part, const char* member, bool is_time) {
  const auto values = part_of(part_of(point, part), member).get<std::vector<double>>();
  if (values.empty()) return number_cell("");
  const double middle = observe::summarize(values).median;
  return number_cell(is_time ? duration(middle) : figures(middle, 2));
}

std::string row(const shown& measured, const scale& unit, bool best, const columns& more) {
  const json& point = *measured.point;
  std::string html = std::string("<tr") + (measured.failed ? " class=\"bad\"" : best ? " class=\"best\"" : "") + ">";
  html += number_cell(text_of(point, "threads")) + "<td class=\"w\">" + escaped(text_of(point, "subject")) + "</td>" +
          cell(kind_words(point)) + cell(text_of(point, "waiting"));
  if (measured.rounds == 0) {
    html += "<td colspan=\"4\">failed</td>";
  } else {
    html += number_cell(figures(measured.middle.median / unit.by));
    html += number_cell(interval_text(measured, unit));
    html += number_cell(std::to_string(measured.rounds));
    html += cell(measured.failed ? "failed its check" : best && measured.rounds > 1 ? "best median" : "");
  }
  if (more.fairness) html += number_cell(fairness_text(point));
  if (more.shares) {
    html += median_cell(point, "fairness", "slowest_share", false);
    html += median_cell(point, "fairness", "busier_half_share", false);
  }
  if (more.waits) {
    html += median_cell(point, "waits", "p99.9_ns", true) + median_cell(point, "waits", "max_ns", true);
    html += median_cell(point, "waits", "cpu_s_per_s", false);
  }
  if (more.latency) {
    const json& times = part_of(part_of(point, "latency_ns"), "op");
    for (const char* name : {"p50", "p99", "p99.9"}) {
      html += number_cell(times.contains(name) ? duration(number_of(times, name)) : "");
    }
  }
  return html + "</tr>\n";
}

double min_coverage(const std::vector<shown>& list) {
  double least = 1;
  for (const shown& one : list) {
    if (one.rounds != 0) least = std::min(least, one.middle.coverage);
  }
  return least;
}

std::string interval_note(const std::vector<shown>& list) {
  const double least = min_coverage(list);
  if (least == 0) return "A single repetition has no interval.";
  if (least >= 0.95) return "Intervals: of the median, by order statistics; they cover at least 95 %.";
  return fmt::format(
      "Intervals: of the median, by order statistics; they cover {:.1f} % where repetitions are fewest (6 are needed "
      "for "
      "95 %).",
      100 * least);
}

std::string points_table(const std::vector<shown>& list, const scale& unit) {
  const std::map<double, const json*> best = best_by_threads(list);
  const columns more = columns_of(list);
  std::string rows;
  for (const shown& measured : list) {
    const auto at = best.find(number_of(*measured.point, "threads"));
    rows += row(measured, unit, at != best.end() && at->second == measured.point, more);
  }
  std::string head = "<th class=\"n\">threads</th><th>lock or subject</th><th>from</th><th>waits by</th>";
  head += "<th class=\"n\">median, " + escaped(unit.unit) + "</th><th class=\"n\">interval, " + escaped(unit.unit) +
          "</th><th class=\"n\">repetitions</th><th>note</th>";
  if (more.fairness) head += "<th class=\"n\">fairness</th>";
  if (more.shares) head += "<th class=\"n\">slowest thread</th><th class=\"n\">busier half</th>";
  if (more.waits)
    head += "<th class=\"n\">wait p99.9</th><th class=\"n\">longest wait</th><th class=\"n\">CPUs waiting</th>";
  if (more.latency) head += "<th class=\"n\">latency p50</th><th class=\"n\">p99</th><th class=\"n\">p99.9</th>";
  return table(head, rows) + "<p class=\"note\">" + escaped(interval_note(list)) + "</p>\n";
}

estimate estimate_of(const shown& measured, const scale& unit) {
  return {measured.middle.median / unit.by, measured.middle.low95 / unit.by, measured.middle.high95 / unit.by};
}

std::string hover_of(const shown& measured, const scale& unit) {
  const estimate value = estimate_of(measured, unit);
  return fmt::format("{}, threads: {}: median {} {}, interval {} to {}, repetitions: {}",
                     text_of(*measured.point, "subject"), text_of(*measured.point, "threads"), figures(value.value),
                     unit.unit, figures(value.low), figures(value.high), measured.rounds);
}

std::string axis_words(const json& point, const scale& unit) {
  return "median " + text_of(point, "metric") + ", " + unit.unit +
         (lower_is_better(point) ? " (lower is better)" : " (higher is better)");
}

std::string bars(const std::vector<shown>& list, const scale& unit, const json& first) {
  bar_chart chart;
  chart.title = text_of(first, "metric") + " of " + text_of(first, "workload");
  chart.description = "Bars with the interval of the median; the table above holds the same numbers.";
  chart.axis = axis_words(first, unit);
  const auto best = best_by_threads(list);
  for (const shown& measured : list) {
    if (measured.failed || measured.rounds == 0) continue;
    const bool is_best = best.at(number_of(*measured.point, "threads")) == measured.point;
    chart.bars.push_back({text_of(*measured.point, "subject"), estimate_of(measured, unit), hover_of(measured, unit),
                          is_best                                      ? "best"
                          : text_of(*measured.point, "kind") == "peer" ? "peer"
                                                                       : "ours",
                          measured.rounds > 1});
  }
  // A single bar compares nothing.
  return chart.bars.size() < 2 ? std::string() : drawn(chart);
}

/// The subjects ordered by their best median anywhere, best first.
std::vector<std::string> ranked(const std::vector<shown>& list) {
  std::map<std::string, double> best;
  for (const shown& measured : list) {
    if (measured.failed || measured.rounds == 0) continue;
    const double worth = lower_is_better(*measured.point) ? -measured.middle.median : measured.middle.median;
    const auto [at, fresh] = best.emplace(text_of(*measured.point, "subject"), worth);
    if (!fresh) at->second = std::max(at->second, worth);
  }
  std::vector<std::string> names;
  names.reserve(best.size());
  for (const auto& [name, worth] : best) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) { return best[a] > best[b]; });
  return names;
}

std::string lines(const std::vector<shown>& list, const scale& unit, const json& first,
                  const std::vector<double>& threads) {
  line_chart chart;
  chart.x_axis = "threads";
  chart.y_axis = axis_words(first, unit);
  chart.description =
      "Lines over the number of threads with the interval of the median; the table above holds the same numbers.";
  chart.positions = threads;
  for (const double count : threads) chart.position_words.push_back(grouped(count));
  std::vector<std::string> names = ranked(list);
  chart.title = text_of(first, "metric") + " of " + text_of(first, "workload") + " over threads";
  if (names.size() > max_lines) {
    chart.title += fmt::format(", the {} of {} with the best medians", max_lines, names.size());
    names.resize(max_lines);
  }
  for (const std::string& name : names) {
    line drawn_line{name, std::vector<std::optional<estimate>>(threads.size()),
                    std::vector<std::string>(threads.size())};
    for (const shown& measured : list) {
      if (measured.failed || measured.rounds == 0 || text_of(*measured.point, "subject") != name) continue;
      const auto at = static_cast<std::size_t>(
          std::find(threads.begin(), threads.end(), number_of(*measured.point, "threads")) - threads.begin());
      drawn_line.at[at] = estimate_of(measured, unit);
      drawn_line.hover[at] = hover_of(measured, unit);
    }
    chart.lines.push_back(std::move(drawn_line));
  }
  return drawn(chart);
}

std::string parameters_words(const json& point) {
  std::string words;
  for (const auto& [key, value] : part_of(point, "params").items()) {
    words += (words.empty() ? "" : ", ") + key + " = " + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  if (const std::string preset = text_of(point, "preset"); !preset.empty())
    words += (words.empty() ? "preset " : "; preset ") + preset;
  if (const std::string place = text_of(point, "place"); !place.empty() && place != "none") {
    words += (words.empty() ? "threads placed " : "; threads placed ") + place;
  }
  return words;
}

std::string group_section(const group& compared) {
  const json& first = *compared.first;
  std::vector<shown> list;
  std::vector<double> threads;
  double greatest = 0;
  for (const json* point : compared.points) {
    list.push_back(shown_of(*point));
    if (list.back().rounds != 0) greatest = std::max(greatest, list.back().middle.high95);
    const double count = number_of(*point, "threads");
    if (std::find(threads.begin(), threads.end(), count) == threads.end()) threads.push_back(count);
  }
  std::sort(threads.begin(), threads.end());
  const scale unit = scale_for(greatest, text_of(first, "unit"));
  std::string html = "<section>" + heading(text_of(first, "workload") + ": " + text_of(first, "metric"));
  if (const std::string words = parameters_words(first); !words.empty())
    html += "<p class=\"note\">" + escaped(words) + "</p>\n";
  html += points_table(list, unit);
  html += threads.size() > 1 ? lines(list, unit, first, threads) : bars(list, unit, first);
  return html + "</section>\n";
}

}  // namespace

std::string points_section(const json& document) {
  // Other sections show these points: comparisons_section by phase, experiments_section by curve, exploration_section.
  if (document.contains("tune") || document.contains("lab") || document.contains("explore")) return {};
  std::string html;
  for (const group& one : groups_of(document)) html += group_section(one);
  return html;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
