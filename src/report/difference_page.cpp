// SPDX-License-Identifier: Apache-2.0
// The page of a comparison.
#include <algorithm>

#include <fmt/core.h>

#include "report/blame.hpp"
#include "report/difference.hpp"
#include "report/flame.hpp"
#include "report/sections.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

constexpr std::size_t max_sites = 20;
constexpr std::size_t max_points = 200;

std::string boxes(const difference& all) {
  std::string html;
  const auto pair = [&](const char* name, double before, double after) {
    if (before + after > 0)
      html += box(name, duration(after), fmt::format("before: {} ({})", duration(before), change_words(before, after)));
  };
  pair("waiting, all threads", all.waiting_before(), all.waiting_after());
  if (all.per_second)
    pair("waiting, a second of the run", all.waiting_before() / all.divisor_before(),
         all.waiting_after() / all.divisor_after());
  pair("length of the run", all.before_s * 1e9, all.after_s * 1e9);
  if (!all.sites.empty()) {
    const auto count = [&](bool before, bool after) {
      return std::count_if(all.sites.begin(), all.sites.end(), [&](const site_change& one) {
        return one.before.has_value() == before && one.after.has_value() == after;
      });
    };
    html += box("lock sites in both", std::to_string(count(true, true)),
                fmt::format("{} new, {} gone", count(false, true), count(true, false)));
  }
  return html.empty() ? html : "<dl class=\"keys\">\n" + html + "</dl>\n";
}

std::string remarks_section(const difference& all) {
  std::string items;
  for (const std::string& one : all.remarks) items += "<li>" + escaped(one) + "</li>\n";
  return items.empty() ? items : "<section>" + heading("Remarks") + "<ul>\n" + items + "</ul></section>\n";
}

std::string points_table(const difference& all) {
  if (all.points.empty()) return {};
  std::string rows;
  for (std::size_t i = 0; i < std::min(all.points.size(), max_points); ++i) {
    const point_change& point = all.points[i];
    const std::string judgement = judged(point);
    rows += std::string("<tr") +
            (judgement == "worse"    ? " class=\"bad\""
             : judgement == "better" ? " class=\"best\""
                                     : "") +
            "><td class=\"w\">" + escaped(point.what) + "</td>" + cell(point.metric) +
            number_cell(value_words(point, point.before)) + number_cell(value_words(point, point.after)) +
            number_cell(point.before.median > 0 ? figures(point.after.median / point.before.median, 3) : "–") +
            cell(judgement) + "</tr>\n";
  }
  std::string html = "<section>" + heading("Measured") +
                     table(
                         "<th>what</th><th>metric</th><th class=\"n\">before</th><th class=\"n\">after</th><th "
                         "class=\"n\">ratio</th><th>after is</th>",
                         rows);
  if (all.points.size() > max_points)
    html += fmt::format("<p class=\"note\">{} further rows are left out.</p>\n", all.points.size() - max_points);
  return html +
         "<p class=\"note\">Medians. After is better or worse only where all its values lie beyond all of those "
         "before; "
         "– stands where each is one value. The runs did not stand beside each other in time, so even better is no "
         "proof; "
         "txsync tune proves.</p></section>\n";
}

std::string sites_table(const difference& all) {
  if (all.sites.empty()) return {};
  std::string rows;
  for (std::size_t i = 0; i < std::min(all.sites.size(), max_sites); ++i) {
    const site_change& site = all.sites[i];
    const std::vector<difference_row> lines = rows_of(site, all);
    for (std::size_t line = 0; line < lines.size(); ++line) {
      rows += line + 1 == lines.size() ? "<tr class=\"last\">" : "<tr class=\"more\">";
      if (line == 0) {
        rows += fmt::format(
            R"(<td class="w" rowspan="{}">{}{}</td>)", lines.size(), escaped(site.name),
            site.where.empty() ? "" : fmt::format(R"(<br><span class="note">{}</span>)", escaped(site.where)));
      }
      rows += "<td class=\"l\">" + escaped(lines[line].label) + "</td>";
      for (const std::string& words : lines[line].cells) rows += number_cell(words);
      rows += "</tr>\n";
    }
  }
  std::string head = "<th>site</th><th></th>";
  for (const char* one : difference_heads) head += std::string("<th class=\"n\">") + one + "</th>";
  std::string html = "<section>" + heading("Lock sites") + table(head, rows);
  if (all.sites.size() > max_sites)
    html += fmt::format("<p class=\"note\">{} further sites changed less.</p>\n", all.sites.size() - max_sites);
  return html +
         "<p class=\"note\">The sites whose waiting changed most come first. Sites are the same by their names; where "
         "lines "
         "have moved, by their names without the line. Holds are acquisitions; they and the time held are estimated "
         "from "
         "samples.</p></section>\n";
}

/// Leaves out the chains of sites whose waits one of the documents did not count.
void leave_out_uncounted(std::vector<call_chain>& chains, const difference& all) {
  for (const site_change& one : all.sites) {
    if (one.compares_waits()) continue;
    std::erase_if(chains, [&](const call_chain& chain) {
      return !chain.frames.empty() && without_line(chain.frames.back()) == without_line(one.name);
    });
  }
}

/// The chains of both documents in one list. If the lengths of the runs differ, amounts are per second.
std::vector<call_chain> joined(std::vector<call_chain> before, std::vector<call_chain> after, const difference& all) {
  leave_out_uncounted(before, all);
  leave_out_uncounted(after, all);
  for (call_chain& chain : before) {
    chain.before = chain.amount / all.divisor_before();
    chain.amount = 0;
  }
  for (call_chain& chain : after) {
    chain.amount /= all.divisor_after();
    before.push_back(std::move(chain));
  }
  return before;
}

std::string difference_chart(std::vector<call_chain> before, std::vector<call_chain> after, const difference& all,
                             const char* words, const char* verb) {
  flame_chart chart;
  chart.compares = true;
  chart.title = std::string(words) + ": calls from the bottom up, as wide as the mean of before and after" +
                (all.per_second ? ", for each second of the run" : "");
  chart.description =
      "A flame graph. Red frames, with +, have more time after; blue ones, with −, less. Each says both times on "
      "hover.";
  chart.root = "all waiting";
  chart.what = verb;
  chart.chains = joined(std::move(before), std::move(after), all);
  return drawn(chart);
}

std::string flame_sections(const json& before, const json& after, const difference& all) {
  const auto waits_before = lock_chains(before, "wait_chains");
  const auto waits_after = lock_chains(after, "wait_chains");
  const bool chains = !waits_before.empty() && !waits_after.empty();
  std::string html =
      difference_chart(chains ? with_sites(waits_before) : site_chains(before),
                       chains ? with_sites(waits_after) : site_chains(after), all, "Who waited", "waited");
  if (html.empty()) return {};
  const std::string note = chains ? ""
                                  : "<p class=\"note\">Not both documents have call chains of waits: the frames are "
                                    "the module that holds the code, and the lock site.</p>\n";
  html = "<section>" + heading("Who waited more, who less") + note + html + "</section>\n";
  const auto holds_before = lock_chains(before, "hold_chains");
  const auto holds_after = lock_chains(after, "hold_chains");
  if (holds_before.empty() || holds_after.empty()) return html;
  const std::string drawing =
      difference_chart(with_sites(holds_before), with_sites(holds_after), all, "Who was waited for", "waited for");
  return drawing.empty() ? html
                         : html + "<section>" + heading("Who was waited for more, who less") + drawing + "</section>\n";
}

std::string commands(const source& before, const source& after) {
  std::string html = "<section>" + heading("How to reproduce");
  for (const source* from : {&before, &after}) {
    const json& tool = part_of(from->document, "tool");
    html += "<h3>" + std::string(from == &before ? "Before" : "After") + "</h3>\n<pre>" +
            escaped(shell_line(part_of(from->document, "command").get<std::vector<std::string>>())) +
            "</pre>\n<dl class=\"facts\">\n" + fact("document", from->name) +
            fact("started", text_of(from->document, "started")) +
            fact("processor", text_of(part_of(from->document, "machine"), "cpu")) +
            fact("txsync", text_of(tool, "version") + ", commit " + text_of(tool, "commit")) + "</dl>\n";
  }
  return html + "</section>\n";
}

std::string compared_article(const source& before, const source& after, const difference& all) {
  const std::string over = verb_of(before.document) + ": before '" + before.name + "' (" + all.before + "), after '" +
                           after.name + "' (" + all.after + ")";
  return "<article id=\"r1\">\n<p class=\"over\">" + escaped(over) + "</p>\n<h1 class=\"verdict\">" +
         escaped(verdict_of(all)) + "</h1>\n" + boxes(all) + remarks_section(all) + points_table(all) +
         sites_table(all) + flame_sections(before.document, after.document, all) + commands(before, after) +
         "</article>\n";
}

}  // namespace

std::string difference_page(const source& before, const source& after, const difference& all) {
  try {
    return page_around("txsync report --diff: " + before.name + ", " + after.name,
                       compared_article(before, after, all));
  } catch (const json::exception& error) {
    throw not_as_the_schema(before, after, error);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
