// SPDX-License-Identifier: Apache-2.0
#include "report/difference.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "launch/policy_remarks.hpp"
#include "report/sections.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

constexpr double same_length = 0.05;  // lengths that differ by less count as equal

bool is_run(const json& document) { return document.contains("run"); }

/// The program with its arguments, or the workload.
std::string program_of(const json& document) {
  const json& points = part_of(document, "points");
  if (points.empty()) return {};
  const std::string args = text_of(part_of(points.front(), "params"), "args");
  return text_of(points.front(), "workload") + (args.empty() ? "" : " " + args);
}

double seconds_of(const json& document) {
  const json& points = part_of(document, "points");
  if (!is_run(document) || points.empty() || text_of(points.front(), "unit") != "s") return 0;
  return number_of(points.front(), "median");
}

using site_key = std::pair<std::string, std::string>;

site_figures figures_of(const json& site) {
  site_figures sums{number_of(site, "contended") + number_of(site, "failed_waits"), waiting_of(site),
                    number_of(site, "acquisitions"), number_of(site, "hold_ns")};
  sums.unwatched = number_of(site, "unwatched");
  const json& waits = part_of(site, "wait_percentiles_ns");
  if (waits.contains("p99.9")) sums.p999_ns = observe::carried_figures(number_of(waits, "p99.9"));
  if (site.contains("max_wait_ns")) sums.max_wait_ns = number_of(site, "max_wait_ns");
  return sums;
}

void add_figures(site_figures& sum, const site_figures& more) {
  sum.waits += more.waits;
  sum.wait_ns += more.wait_ns;
  sum.holds += more.holds;
  sum.hold_ns += more.hold_ns;
  sum.unwatched += more.unwatched;
  sum.p999_ns = std::max(sum.p999_ns, more.p999_ns);
  sum.max_wait_ns = std::max(sum.max_wait_ns, more.max_wait_ns);
}

std::map<site_key, site_figures> figures_by_site(const json& document) {
  std::map<site_key, site_figures> by_site;
  for (const counted& site : sites_of(document, !is_run(document))) {
    const site_figures added = figures_of(*site.site);
    const auto [at, fresh] = by_site.try_emplace({text_of(*site.site, "name"), site.where}, added);
    if (!fresh) add_figures(at->second, added);
  }
  return by_site;
}

/// The sites without a partner, by their names without line numbers. Several sites of one such name stay ambiguous.
std::map<site_key, std::vector<site_change*>> by_bare_name(std::vector<site_change>& sites, bool of_before) {
  std::map<site_key, std::vector<site_change*>> by_name;
  for (site_change& change : sites) {
    if (change.before.has_value() == of_before && change.after.has_value() != of_before)
      by_name[{without_line(change.name), change.where}].push_back(&change);
  }
  return by_name;
}

/// Pairs sites whose line moved because the program changed: exactly one is left on each side with that name without
/// line.
void match_moved(std::vector<site_change>& sites) {
  const auto gone = by_bare_name(sites, true);
  auto fresh = by_bare_name(sites, false);
  for (const auto& [name, of_before] : gone) {
    const auto partner = fresh.find(name);
    if (of_before.size() != 1 || partner == fresh.end() || partner->second.size() != 1) continue;
    partner->second.front()->before = of_before.front()->before;
    of_before.front()->before.reset();
  }
  std::erase_if(sites, [](const site_change& one) { return !one.before && !one.after; });
}

std::vector<site_change> site_changes(const json& before, const json& after) {
  std::map<site_key, site_change> all;
  for (const auto& [key, found] : figures_by_site(before)) all[key].before = found;
  for (const auto& [key, found] : figures_by_site(after)) all[key].after = found;
  std::vector<site_change> changes;
  changes.reserve(all.size());
  for (auto& [key, change] : all) {
    change.name = key.first;
    change.where = key.second;
    changes.push_back(std::move(change));
  }
  match_moved(changes);
  return changes;
}

double wait_before(const site_change& site) { return site.before && site.compares_waits() ? site.before->wait_ns : 0; }
double wait_after(const site_change& site) { return site.after && site.compares_waits() ? site.after->wait_ns : 0; }

void sort_by_change(difference& all) {
  const auto change = [&](const site_change& one) {
    if (!one.compares_waits()) return -1.0;  // these come last
    return std::fabs(wait_after(one) / all.divisor_after() - wait_before(one) / all.divisor_before());
  };
  std::stable_sort(all.sites.begin(), all.sites.end(),
                   [&](const site_change& a, const site_change& b) { return change(a) > change(b); });
}

/// The key by which a point is found in both documents. A run has one point, whatever its program and policy are.
std::string key_of(const json& document, const json& point) {
  if (is_run(document)) return "run";
  return text_of(point, "workload") + "\n" + part_of(point, "params").dump() + "\n" + text_of(point, "subject") + "\n" +
         text_of(point, "threads") + "\n" + text_of(point, "place") + "\n" + text_of(point, "metric");
}

std::string point_words(const json& document, const json& point) {
  if (is_run(document)) return program_of(document);
  std::string words = text_of(point, "workload");
  for (const auto& [name, value] : part_of(point, "params").items())
    words += (value.is_string() && value.get<std::string>().empty())
                 ? ""
                 : ", " + name + " " + text_of(part_of(point, "params"), name.c_str());
  return words + ": " + text_of(point, "subject") + ", threads: " + text_of(point, "threads");
}

measured measured_of(const json& point) {
  return {number_of(point, "median"), number_of(point, "low"), number_of(point, "high"),
          part_of(point, "values").size()};
}

std::vector<point_change> point_changes(const json& before, const json& after) {
  std::map<std::string, const json*> known;
  for (const json& point : part_of(before, "points")) known.emplace(key_of(before, point), &point);
  std::vector<point_change> changes;
  for (const json& point : part_of(after, "points")) {
    const auto other = known.find(key_of(after, point));
    if (other == known.end() || !point.contains("median") || !other->second->contains("median")) continue;
    changes.push_back({point_words(after, point), text_of(point, "metric"), text_of(point, "unit"),
                       lower_is_better(point), measured_of(*other->second), measured_of(point)});
  }
  // Sorts by factor, in either direction. Medians of 0 have no factor and come last.
  const auto change = [](const point_change& one) {
    const bool both = one.before.median > 0 && one.after.median > 0;
    return both ? std::fabs(std::log(one.after.median / one.before.median)) : -1;
  };
  std::stable_sort(changes.begin(), changes.end(),
                   [&](const point_change& a, const point_change& b) { return change(a) > change(b); });
  return changes;
}

std::string whole_machine(const json& document) {
  const json& machine = part_of(document, "machine");
  return text_of(machine, "cpu") + ", " + text_of(machine, "cpus") + " CPUs, " + text_of(machine, "kernel");
}

/// "libc" or "mutex", for example, in documents of runs; empty in others.
std::string policy_of(const json& document) { return text_of(part_of(document, "run"), "policy"); }

void remark_on(std::vector<std::string>& remarks, const source& from) {
  const std::string who = "'" + from.name + "': ";
  if (from.document.contains("interrupted")) remarks.push_back(who + "the run was ended before its time.");
  const std::string status = text_of(part_of(from.document, "run"), "status");
  if (!status.empty() && status != "0") remarks.push_back(who + "the program ended with status " + status + ".");
  const std::string sanitizers = text_of(part_of(from.document, "tool"), "sanitizers");
  if (!sanitizers.empty()) remarks.push_back(who + "this build of txsync had sanitizers; its times mean nothing.");
}

/// The sites whose waits cannot be compared, each once.
std::string names_of_uncounted(const difference& all) {
  std::set<std::string> names;
  for (const site_change& one : all.sites) {
    if (!one.compares_waits()) names.insert(one.name);
  }
  return launch::listed({names.begin(), names.end()});
}

std::vector<std::string> remarks_on(const source& before, const source& after, const difference& all) {
  std::vector<std::string> remarks;
  const auto differ = [&](const std::string& what, const std::string& a, const std::string& b) {
    if (a != b) remarks.push_back(what + " differ: " + (a.empty() ? "–" : a) + ", and " + (b.empty() ? "–" : b) + ".");
  };
  if (is_run(before.document))
    differ("The programs or their arguments", program_of(before.document), program_of(after.document));
  differ("The policies of the locks", policy_of(before.document), policy_of(after.document));
  differ("The machines", whole_machine(before.document), whole_machine(after.document));
  differ("The builds of txsync", text_of(part_of(before.document, "tool"), "commit"),
         text_of(part_of(after.document, "tool"), "commit"));
  remark_on(remarks, before);
  remark_on(remarks, after);
  if (const std::string names = names_of_uncounted(all); !names.empty())
    remarks.push_back("One of the documents, or both, did not count the waits at: " + names +
                      ". They are not compared.");
  if (all.per_second) {
    remarks.push_back("The runs had different lengths, " + duration(all.before_s * 1e9) + " and " +
                      duration(all.after_s * 1e9) +
                      ": changes are judged by the waiting in each second of the run. If both did the same work, judge "
                      "by the totals.");
  }
  return remarks;
}

std::string measured_words(const json& document) {
  const std::string policy = policy_of(document);
  return program_of(document) + (policy.empty() ? "" : ", policy " + policy);
}

void require_comparable(const source& before, const source& after) {
  const auto both = [&](const std::string& words) {
    return report_error("'" + before.name + "' and '" + after.name + "' " + words);
  };
  const std::string a = verb_of(before.document);
  const std::string b = verb_of(after.document);
  if (a != b)
    throw both("are of different kinds, " + a + " and " + b + "; --diff takes two of the same: run, bench or tune");
  for (const source* from : {&before, &after}) {
    if (part_of(from->document, "points").empty() || from->document.contains("explore"))
      throw report_error("'" + from->name + "' is of " + verb_of(from->document) +
                         " and has nothing to compare; --diff takes two of run, bench or tune");
  }
}

difference checked_difference(const source& before, const source& after) {
  require_comparable(before, after);
  difference all;
  all.before = measured_words(before.document);
  all.after = measured_words(after.document);
  all.before_s = seconds_of(before.document);
  all.after_s = seconds_of(after.document);
  if (all.before_s > 0 && all.after_s > 0)
    all.per_second = std::fabs(all.after_s - all.before_s) > same_length * std::max(all.after_s, all.before_s);
  all.sites = site_changes(before.document, after.document);
  sort_by_change(all);
  all.points = point_changes(before.document, after.document);
  const bool shared =
      std::any_of(all.sites.begin(), all.sites.end(), [](const site_change& one) { return one.before && one.after; });
  if (!is_run(before.document) && all.points.empty() && !shared)
    throw report_error(
        fmt::format("'{}' and '{}' have nothing in common: no workload with the same parameters, subject and threads",
                    before.name, after.name));
  all.remarks = remarks_on(before, after, all);
  return all;
}

std::string count_words(double value) {
  return value >= 100 || value == std::floor(value) ? grouped(value) : figures(value, 3);
}

std::string ratio_words_of(double before, double after) { return before > 0 ? figures(after / before, 3) : "–"; }

std::string time_words(const std::optional<double>& time) { return time ? duration(*time) : "–"; }

std::string time_ratio(const std::optional<double>& before, const std::optional<double>& after) {
  return before && after ? ratio_words_of(*before, *after) : "–";
}

/// The figures of a run, divided by its length in seconds; `seconds` is 1 for totals.
difference_row figures_row(std::string label, const site_figures& site, double seconds, bool with_times) {
  const bool is_known = site.counts_waits();
  return {std::move(label),
          {is_known ? count_words(site.waits / seconds) : "–", is_known ? duration(site.wait_ns / seconds) : "–",
           with_times ? time_words(site.p999_ns) : "", with_times ? time_words(site.max_wait_ns) : "",
           count_words(site.holds / seconds), duration(site.hold_ns / seconds)}};
}

difference_row ratio_row(const char* label, const site_figures& before, const site_figures& after, double lengths,
                         bool with_times) {
  const bool are_known = before.counts_waits() && after.counts_waits();
  const auto of_waits = [&](double first, double second) {
    return are_known ? ratio_words_of(first * lengths, second) : "–";
  };
  return {
      label,
      {of_waits(before.waits, after.waits), of_waits(before.wait_ns, after.wait_ns),
       with_times ? time_ratio(before.p999_ns, after.p999_ns) : "",
       with_times ? time_ratio(before.max_wait_ns, after.max_wait_ns) : "",
       ratio_words_of(before.holds * lengths, after.holds), ratio_words_of(before.hold_ns * lengths, after.hold_ns)}};
}

/// "Of 84 measurements 12 are better, 3 worse; of 69 the values overlap."
std::string points_verdict(const difference& all) {
  std::map<std::string, std::size_t> counts;
  for (const point_change& one : all.points) ++counts[judged(one)];
  const std::size_t single = counts["–"];
  if (single == all.points.size()) return fmt::format("{} measurements, of single values each.", single);
  return fmt::format("Of {} measurements {} are better, {} worse; of {} the values overlap.",
                     all.points.size() - single, counts["better"], counts["worse"], counts["overlap"]);
}

}  // namespace

difference compared(const source& before, const source& after) {
  try {
    return checked_difference(before, after);
  } catch (const json::exception& error) {
    throw not_as_the_schema(before, after, error);
  }
}

report_error not_as_the_schema(const source& before, const source& after, const std::exception& why) {
  return report_error(
      fmt::format("'{}' or '{}' is not a result document of txsync as docs/result.schema.json has it: {}", before.name,
                  after.name, why.what()));
}

double difference::waiting_before() const {
  double sum = 0;
  for (const site_change& one : sites) sum += wait_before(one);
  return sum;
}

double difference::waiting_after() const {
  double sum = 0;
  for (const site_change& one : sites) sum += wait_after(one);
  return sum;
}

std::vector<difference_row> rows_of(const site_change& site, const difference& all) {
  std::vector<difference_row> rows;
  const auto put = [&](const char* label, const std::optional<site_figures>& of, double seconds) {
    if (!of) return;
    rows.push_back(figures_row(label, *of, 1, true));
    if (all.per_second) rows.push_back(figures_row("a second", *of, seconds, false));
  };
  put("before", site.before, all.before_s);
  put("after", site.after, all.after_s);
  if (site.before && site.after) {
    rows.push_back(ratio_row("ratio", *site.before, *site.after, 1, true));
    if (all.per_second)
      rows.push_back(ratio_row("a second", *site.before, *site.after, all.after_s / all.before_s, false));
  } else {
    rows.push_back({site.after ? "new" : "gone", {}});
  }
  return rows;
}

const char* judged(const point_change& point) {
  if (point.before.values < 2 || point.after.values < 2) return "–";
  if (point.before.low <= point.after.high && point.after.low <= point.before.high) return "overlap";
  return (point.after.median < point.before.median) == point.lower ? "better" : "worse";
}

std::string value_words(const point_change& point, const measured& value) {
  const scale unit = scale_for(value.median, point.unit);
  return fmt::format("{} {}", figures(value.median / unit.by), unit.unit);
}

std::string verdict_of(const difference& all) {
  const double before = all.waiting_before() / all.divisor_before();
  const double after = all.waiting_after() / all.divisor_after();
  std::string words;
  if (all.before_s == 0) words = points_verdict(all);
  if (before + after == 0 && words.empty()) {
    return std::all_of(all.sites.begin(), all.sites.end(), [](const site_change& one) { return one.compares_waits(); })
               ? "No thread waited for a lock, before or after."
               : "No waits can be compared: not both documents counted them.";
  }
  if (before + after == 0) return words;
  const site_change& most = all.sites.front();
  return words + fmt::format("{}Threads waited for locks {} before, {} after{} ({}). Most changed {}: {}, then {}.",
                             words.empty() ? "" : " ", duration(before), duration(after),
                             all.per_second ? " in each second of the run" : "", change_words(before, after), most.name,
                             duration(wait_before(most) / all.divisor_before()),
                             duration(wait_after(most) / all.divisor_after()));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
