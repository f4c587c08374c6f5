// SPDX-License-Identifier: Apache-2.0
#include "observe/document/document.hpp"

#include <ctime>

#include <fmt/core.h>

#include "observe/document/abort_text.hpp"
#include "observe/document/block_paths.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {
namespace {

template <class Value>
json object_of(const std::vector<std::pair<std::string, Value>>& members) {
  json made = json::object();
  for (const auto& [name, value] : members) made[name] = value;
  return made;
}

void put_text(json& into, const char* name, const std::string& text) {
  if (!text.empty()) into[name] = text;
}

template <class Value>
void put_list(json& into, const char* name, const std::vector<Value>& list) {
  if (!list.empty()) into[name] = list;
}

json to_json(const tool_record& tool) {
  json made = {{"name", "txsync"}, {"version", tool.version}, {"commit", tool.commit}, {"compiler", tool.compiler}};
  put_text(made, "build_type", tool.build_type);
  put_text(made, "sanitizers", tool.sanitizers);
  return made;
}

void put_attempts(json& into, const attempt_record& attempts) {
  into["attempts"] = attempts.attempts;
  into["commits"] = attempts.commits;
  into["fallbacks"] = attempts.fallbacks;
  into["aborts"] = object_of(attempts.aborts);
  into["signals"] = object_of(attempts.signals);
}

json to_json(const percentile_record& percentiles) {
  json made = {{"samples", percentiles.samples}};
  made.update(object_of(percentiles.values));
  return made;
}

void put_fairness(json& into, const fairness_record& one) {
  if (!one.slowest_share.empty())
    into["fairness"] = {{"slowest_share", one.slowest_share}, {"busier_half_share", one.busier_half_share}};
  if (!one.max_wait_ns.empty()) {
    into["waits"] = {{"p99.9_ns", one.p999_wait_ns}, {"max_ns", one.max_wait_ns}, {"cpu_s_per_s", one.wait_cpus}};
  }
}

void put_undisturbed(json& into, const undisturbed_record& one) {
  if (one.throughput.empty()) return;
  into["undisturbed"] = {{"throughput", one.throughput},
                         {"share", one.share},
                         {"line_before_ns", one.line_before_ns},
                         {"line_after_ns", one.line_after_ns}};
}

/// The median with `digits` digits after the point, `width` characters wide; "-" without values.
std::string column(const std::vector<double>& values, double unit, int digits, int width) {
  if (values.empty()) return fmt::format("{:>{}}", "-", width);
  return fmt::format("{:>{}.{}f}", summarize(values).median / unit, width, digits);
}

void put_sharing(json& into, const abort_place& place) {
  put_text(into, "sharing", sharing_text(place));
  if (place.sharing == sharing_kind::none) return;
  into["sharing_kind"] = to_string(place.sharing);
  put_text(into, "own_data", place.own_data);
  put_text(into, "conflicting_data", place.conflicting_data);
}

void put_occupancy(json& into, const abort_place& place) {
  put_text(into, "room", room_text(place));
  const sim::occupancy& full = place.occupancy;
  if (full.room == 0) return;
  json& made = into["occupancy"] = {{"kind", sim::name_of(full.of)}, {"own", full.own}, {"room", full.room}};
  if (sim::is_set(full.of)) made["set"] = full.set;
  if (full.siblings != 0) made["siblings"] = full.siblings;
}

void put_details(json& into, const point& one) {
  if (one.attempts) put_attempts(into, *one.attempts);
  if (one.cycles) {
    into["cycles"] = {
        {"total", one.cycles->total}, {"transactional", one.cycles->transactional}, {"aborted", one.cycles->aborted}};
  }
  for (const abort_place& place : one.abort_places) {
    json made = {{"cause", place.cause}, {"count", place.count}};
    put_text(made, "own", place.own);
    put_text(made, "other", place.other);
    put_text(made, "line", place.line);
    put_text(made, "data", place.data);
    if (place.lines != 0) made["lines"] = place.lines;
    if (place.different_bytes != 0) made["different_bytes"] = place.different_bytes;
    put_sharing(made, place);
    put_occupancy(made, place);
    if (!place.own_calls.empty()) made["own_calls"] = place.own_calls;
    if (!place.other_calls.empty()) made["other_calls"] = place.other_calls;
    into["abort_places"].push_back(std::move(made));
  }
  for (const abort_end& end : one.abort_ends) {
    json made = {{"line", end.line}, {"count", end.count}};
    put_text(made, "caller", end.caller);
    put_text(made, "cause", end.cause);
    if (end.cycles != 0) made["cycles"] = end.cycles;
    into["abort_ends"].push_back(std::move(made));
  }
  for (const auto& [operation, percentiles] : one.latency) into["latency_ns"][operation] = to_json(percentiles);
  put_list(into, "series", one.series);
  if (!one.sites.empty()) {
    json& sites = into["sites"] = json::array();
    for (const site_record& site : one.sites) sites.push_back(to_json(site));
  }
  put_text(into, "end_hash", one.end_hash);
  put_text(into, "key", one.key);
}

json to_json(const speculation_record& one) {
  return {{"attempts", one.attempts},
          {"commits", one.commits},
          {"failed", one.failed},
          {"elided", one.elided},
          {"fallbacks", one.fallbacks},
          {"aborts", object_of(one.aborts)},
          {"lost_ns", one.lost_ns},
          {"lost_error_ns", one.lost_error_ns},
          {"lost_samples", one.lost_samples}};
}

json to_json(const transaction_record& one) {
  return {{"commits", one.commits}, {"alone", one.alone}, {"waits", one.waits}, {"aborts", object_of(one.aborts)}};
}

json to_json(const path_record& one, const site_record& of) {
  json made = {{"algorithm", one.algorithm},
               {"prefers", one.in_hardware ? "hardware" : "software"},
               {"reason", one.reason},
               {"why", why_of(one, of)}};
  if (one.hardware_cycles != 0) made["hardware_cycles"] = one.hardware_cycles;
  if (one.software_cycles != 0) made["software_cycles"] = one.software_cycles;
  return made;
}

json to_json(const warm_record& one) {
  json made = {{"runs", one.runs}, {"attempts", one.attempts}, {"ns", one.ns}};
  if (!one.aborts.empty()) made["aborts"] = object_of(one.aborts);
  return made;
}

}  // namespace

json to_json(const site_record& site) {
  json made = {{"name", site.name},
               {"acquisitions", site.acquisitions},
               {"contended", site.contended},
               {"wait_ns", site.wait_ns},
               {"hold_ns", site.hold_ns}};
  if (site.unwatched != 0) made["unwatched"] = site.unwatched;
  if (site.max_wait_ns != 0) made["max_wait_ns"] = site.max_wait_ns;
  if (site.failed_waits != 0) {
    made["failed_waits"] = site.failed_waits;
    made["failed_wait_ns"] = site.failed_wait_ns;
  }
  if (site.unfinished_waits != 0) {
    made["unfinished_waits"] = site.unfinished_waits;
    made["unfinished_wait_ns"] = site.unfinished_wait_ns;
  }
  if (site.slowest) {
    made["slowest_thread"] = {
        {"share", site.slowest->share}, {"threads", site.slowest->threads}, {"wait_ns", site.slowest->wait_ns}};
  }
  if (site.condition_waits != 0) {
    made["condition_waits"] = site.condition_waits;
    made["condition_wait_ns"] = site.condition_wait_ns;
  }
  if (site.wait.samples != 0) made["wait_percentiles_ns"] = to_json(site.wait);
  if (site.hold.samples != 0) made["hold_percentiles_ns"] = to_json(site.hold);
  if (site.speculation) made["speculation"] = to_json(*site.speculation);
  if (site.transactions) made["transactions"] = to_json(*site.transactions);
  if (site.path) made["path"] = to_json(*site.path, site);
  if (site.warm_ups) made["warm_ups"] = to_json(*site.warm_ups);
  put_text(made, "kind", site.kind);
  put_text(made, "where", site.where);
  put_text(made, "module", site.module);
  if (!site.programs.empty()) made["programs"] = site.programs;
  return made;
}

json to_json(const point& one) {
  json made = {{"workload", one.workload}, {"params", one.params}};
  put_text(made, "preset", one.preset);
  made["threads"] = one.threads;
  made["place"] = one.placement;
  made["subject"] = one.subject;
  made["kind"] = to_string(one.kind);
  put_text(made, "waiting", one.waiting);
  if (one.speculates) made["speculates"] = true;
  made["metric"] = one.metric;
  made["unit"] = one.unit;
  made["better"] = one.way == better::higher ? "higher" : "lower";
  made["values"] = one.values;
  if (!one.values.empty()) {
    const summary range = summarize(one.values);
    made["median"] = range.median;
    made["low"] = range.low;
    made["high"] = range.high;
  }
  if (!one.fewest.empty()) made["thread_operations"] = {{"fewest", one.fewest}, {"most", one.most}};
  put_fairness(made, one.fairness);
  put_undisturbed(made, one.undisturbed);
  put_list(made, "faults", one.faults);
  if (one.unpinned != 0) made["unpinned"] = one.unpinned;
  put_details(made, one);
  return made;
}

json to_json(const claim& one) {
  json made = {{"id", one.id}, {"claim", one.words}, {"value", one.value}};
  if (one.value_interval) {
    made["low95"] = one.value_interval->low95;
    made["high95"] = one.value_interval->high95;
    made["coverage"] = one.value_interval->coverage;
  }
  made["goal"] = one.goal;
  put_text(made, "rule", one.rule);
  put_text(made, "standing", one.standing);
  made["holds"] = one.outcome == outcome::holds;
  made["outcome"] = to_string(one.outcome);
  made["from"] = one.from;
  return made;
}

json to_json(const document& all) {
  json made = {{"schema", document_schema},
               {"tool", to_json(all.tool)},
               {"command", all.command},
               {"machine", all.machine},
               {"seed", all.seed}};
  put_text(made, "started", all.started);
  if (all.interrupted) made["interrupted"] = true;
  put_text(made, "end_hash", all.end_hash);
  json& points = made["points"] = json::array();
  for (const point& one : all.points) points.push_back(to_json(one));
  json& claims = made["claims"] = json::array();
  for (const claim& one : all.claims) claims.push_back(to_json(one));
  made.update(all.more);
  return made;
}

claim judged(claim one, const interval& measured, double goal, better way) {
  one.value = measured.median;
  one.value_interval = measured;
  one.goal = goal;
  one.outcome = judge(measured, goal, way);
  one.rule = way == better::higher ? rule_at_least : rule_at_most;
  return one;
}

claim judged(claim one, double value, double goal, better way) {
  one.value = value;
  one.goal = goal;
  one.outcome = judge(way == better::higher ? value >= goal : value <= goal);
  one.rule = way == better::higher ? "value >= goal" : "value <= goal";
  return one;
}

claim without_goal(claim one, const interval& measured) {
  one.value = measured.median;
  one.value_interval = measured;
  one.goal = 0.0;
  one.outcome = outcome::holds;
  one.rule = no_goal;
  return one;
}

std::string fairness_text(const fairness_record& one) {
  constexpr double us = 1e3;
  return column(one.slowest_share, 1, 2, 7) + column(one.busier_half_share, 1, 2, 6) +
         column(one.p999_wait_ns, us, 1, 10) + column(one.max_wait_ns, us, 0, 11) + column(one.wait_cpus, 1, 2, 11);
}

const char* verdict_text(const claim& one) noexcept {
  if (one.rule == no_goal) return "-";
  return one.outcome == outcome::missed ? "MISSED" : to_string(one.outcome);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof "2025-01-31T12:00:00Z"];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
