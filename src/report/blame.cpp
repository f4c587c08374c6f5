// SPDX-License-Identifier: Apache-2.0
#include "report/blame.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "launch/place_name.hpp"
#include "report/flame.hpp"
#include "report/sections.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

constexpr std::size_t max_blamed = 12;

constexpr const char* no_chains =
    "This document has no call chains of waits: the frames are the module that holds the code, and the lock site.";

/// The name of a chain's site, which is given by name or by index in the first point's list of sites.
std::string site_name(const json& chain, const json& document) {
  const auto site = chain.find("site");
  if (site == chain.end()) return {};
  if (!site->is_number_unsigned()) return text_of(chain, "site");
  const json& points = part_of(document, "points");
  const json& sites = points.empty() ? points : part_of(points.front(), "sites");
  const auto index = site->get<std::size_t>();
  return index < sites.size() ? text_of(sites[index], "name") : fmt::format("site {}", index);
}

std::string module_of(const json& site) {
  const std::string path = text_of(site, "module");
  return path.substr(path.rfind('/') + 1);
}

call_chain site_chain(const json& site, double amount) {
  call_chain chain;
  if (const std::string module = module_of(site); !module.empty()) chain.frames.push_back(module);
  chain.frames.push_back(text_of(site, "name"));
  chain.amount = amount;
  return chain;
}

/// Code, with a site whose lock it waited for or made others wait for.
struct blamed {
  std::string code;
  std::string call;
  std::string site;
  double waits = 0;
  double wait_ns = 0;
};

/// The nearest caller of the lock that is not itself a lock wrapper; the lock call if there is none.
const std::string& code_of(const std::vector<std::string>& frames) {
  for (std::size_t at = frames.size() - 1; at-- > 0;) {
    if (!launch::is_lock_wrapper(frames[at].substr(0, frames[at].rfind(" (")))) return frames[at];
  }
  return frames.back();
}

/// The chains by the code that called the lock, the most waiting first.
std::vector<blamed> by_code(const std::vector<lock_chain>& list) {
  std::map<std::pair<std::string, std::string>, blamed> sums;
  for (const lock_chain& chain : list) {
    if (chain.frames.empty()) continue;
    const std::string& code = code_of(chain.frames);
    blamed& sum = sums[{code, chain.site}];
    sum.code = code;
    sum.call = chain.frames.back();
    sum.site = chain.site;
    sum.waits += chain.waits;
    sum.wait_ns += chain.wait_ns;
  }
  std::vector<blamed> sorted;
  sorted.reserve(sums.size());
  for (auto& [key, sum] : sums) sorted.push_back(std::move(sum));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const blamed& a, const blamed& b) { return a.wait_ns > b.wait_ns; });
  return sorted;
}

std::string rest_of(std::size_t more, double rest, const char* words) {
  if (more == 0) return {};
  return fmt::format("<p class=\"note\">{} further rows: {} {} together.</p>\n", more, duration(rest), words);
}

/// `who` and `what` are column headings.
std::string blame_table(const std::vector<lock_chain>& chains, const char* who, const char* time_head) {
  const std::vector<blamed> list = by_code(chains);
  double all = 0;
  double rest = 0;
  std::string rows;
  for (const blamed& one : list) all += one.wait_ns;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const blamed& row = list[i];
    if (i >= max_blamed) {
      rest += row.wait_ns;
      continue;
    }
    rows += "<tr><td class=\"w\">" + escaped(row.code) + "</td><td>" + escaped(row.call) + "</td><td class=\"w\">" +
            escaped(row.site) + "</td>" + number_cell(grouped(row.waits)) + number_cell(duration(row.wait_ns)) +
            number_cell(all == 0 ? "–" : percent(row.wait_ns / all)) + "</tr>\n";
  }
  return table(std::string("<th>") + who +
                   "</th><th>call</th><th>lock site</th><th class=\"n\">waits</th><th class=\"n\">" + time_head +
                   "</th><th class=\"n\">share</th>",
               rows) +
         rest_of(list.size() - std::min(list.size(), max_blamed), rest, time_head);
}

std::string waiter_section(const json& document) {
  flame_chart chart;
  chart.title = "Who waited: calls from the bottom up, the lock on top; as wide as the time waited";
  chart.description =
      "A flame graph. Each frame says its time on hover; the callers of the locks stand in a table above.";
  chart.root = "all waiting";
  chart.what = "waited";
  chart.look = "waits";
  const std::vector<lock_chain> chains = lock_chains(document, "wait_chains");
  chart.chains = chains.empty() ? site_chains(document) : with_sites(chains);
  const std::string drawing = drawn(chart);
  if (drawing.empty()) return {};
  std::string html = "<section>" + heading("Who waited");
  if (chains.empty()) return html + "<p class=\"note\">" + no_chains + "</p>\n" + drawing + "</section>\n";
  html += blame_table(chains, "code that waited", "waited");
  return html +
         "<p class=\"note\">Call chains are taken from samples of the waits, each with the waiting that it stands for. "
         "The time is summed over all threads.</p>\n" +
         drawing + "</section>\n";
}

/// Without chains, a holder is known only by its site: all waiting at a site is for the holders there.
std::string holders_by_site(const json& document) {
  std::vector<const json*> sites;
  double all_waiting = 0;
  double all_held = 0;
  for (const json& point : part_of(document, "points")) {
    for (const json& site : part_of(point, "sites")) {
      if (waiting_of(site) == 0 || text_of(site, "kind") == "barrier") continue;  // nobody holds a barrier
      sites.push_back(&site);
      all_waiting += waiting_of(site);
      all_held += number_of(site, "hold_ns");
    }
  }
  if (sites.empty()) return {};
  std::stable_sort(sites.begin(), sites.end(),
                   [](const json* a, const json* b) { return waiting_of(*a) > waiting_of(*b); });
  flame_chart chart;
  std::string rows;
  double rest = 0;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const json& site = *sites[i];
    const double held = number_of(site, "hold_ns");
    chart.chains.push_back(site_chain(site, held));
    if (i >= max_blamed) {
      rest += waiting_of(site);
      continue;
    }
    rows += "<tr><td class=\"w\">" + escaped(text_of(site, "name")) + "</td>" +
            number_cell(duration(waiting_of(site))) + number_cell(percent(waiting_of(site) / all_waiting)) +
            number_cell(duration(held)) + number_cell(all_held == 0 ? "–" : percent(held / all_held)) + "</tr>\n";
  }
  chart.title = "Who held the locks that were waited for: as wide as the time held";
  chart.description = "A flame graph by module and lock site; the table above holds the same numbers.";
  chart.root = "all holding";
  chart.what = "held";
  chart.look = "holds";
  return "<section>" + heading("Who was waited for") +
         "<p class=\"note\">This document has no call chains of those that held the locks. Waiting at a site was for "
         "the "
         "threads that held its locks; how long they held them in total is estimated from samples.</p>\n" +
         table(
             "<th>lock site</th><th class=\"n\">waited for</th><th class=\"n\">share</th><th class=\"n\">held, "
             "total</th><th class=\"n\">share of holding</th>",
             rows) +
         rest_of(sites.size() - std::min(sites.size(), max_blamed), rest, "waited for") + drawn(chart) + "</section>\n";
}

std::string holder_section(const json& document) {
  const std::vector<lock_chain> chains = lock_chains(document, "hold_chains");
  if (chains.empty()) return holders_by_site(document);
  flame_chart chart;
  chart.title = "Who was waited for: calls from the bottom up, the lock on top; as wide as the time that others waited";
  chart.description = "A flame graph. Each frame says its time on hover; who held the locks stands in the table above.";
  chart.root = "all waiting";
  chart.what = "waited for";
  chart.look = "holds";
  chart.chains = with_sites(chains);
  return "<section>" + heading("Who was waited for") + blame_table(chains, "code that held the lock", "waited for") +
         "<p class=\"note\">The same waiting, assigned to the code that held the lock meanwhile, by samples: what "
         "gives up "
         "a lock after others waited for it.</p>\n" +
         drawn(chart) + "</section>\n";
}

/// "worker (main.cpp:88)": the names, with source places where known.
std::vector<std::string> placed_frames(const json& chain) {
  auto frames = chain.at("frames").get<std::vector<std::string>>();
  const auto places = part_of(chain, "places").get<std::vector<std::string>>();
  for (std::size_t i = 0; i < std::min(frames.size(), places.size()); ++i) {
    if (!places[i].empty()) frames[i] += " (" + places[i].substr(places[i].rfind('/') + 1) + ")";
  }
  return frames;
}

}  // namespace

std::vector<lock_chain> lock_chains(const json& document, const char* member) {
  std::vector<lock_chain> chains;
  for (const json& one : part_of(document, member)) {
    chains.push_back(
        {placed_frames(one), site_name(one, document), number_of(one, "waits"), number_of(one, "wait_ns")});
  }
  return chains;
}

std::vector<call_chain> with_sites(const std::vector<lock_chain>& list) {
  std::vector<call_chain> chains;
  chains.reserve(list.size());
  for (const lock_chain& chain : list) {
    chains.push_back({chain.frames, chain.wait_ns, 0});
    if (!chain.site.empty()) chains.back().frames.push_back(chain.site);
  }
  return chains;
}

std::vector<call_chain> site_chains(const json& document) {
  std::vector<call_chain> chains;
  for (const counted& one : sites_of(document)) chains.push_back(site_chain(*one.site, waiting_of(*one.site)));
  return chains;
}

std::string blame_section(const json& document) {
  if (!document.contains("run") && !document.contains("wait_chains")) return {};
  return waiter_section(document) + holder_section(document);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
