// SPDX-License-Identifier: Apache-2.0
#include "launch/run_document.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstddef>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

/// Chains in the form of documents.
observe::json to_json(const std::vector<blame>& chains) {
  observe::json list = observe::json::array();
  for (const blame& one : chains) {
    observe::json frames = observe::json::array();
    observe::json places = observe::json::array();
    for (const named_call& call : one.calls) {
      frames.push_back(call.name);
      places.push_back(call.file.empty() ? std::string() : fmt::format("{}:{}", call.file, call.line));
    }
    list.push_back({{"frames", std::move(frames)},
                    {"places", std::move(places)},
                    {"site", one.site},
                    {"waits", one.waits},
                    {"wait_ns", one.wait_ns}});
    if (one.is_rest) list.back()["rest"] = true;
  }
  return list;
}

}  // namespace

void put_document(observe::document& into, const options& what, const result& seen, const std::string& policy,
                  const std::vector<observe::abort_end>& ends) {
  observe::point point;
  point.workload = what.command.front();
  std::string arguments;
  for (std::size_t i = 1; i < what.command.size(); ++i) arguments += (i == 1 ? "" : " ") + what.command[i];
  if (!arguments.empty()) point.params["args"] = arguments;
  point.threads = std::max(1u, seen.threads);
  point.placement = "none";
  point.subject = policy;
  point.metric = "wall time";
  point.unit = "s";
  point.way = observe::better::lower;
  point.values = {seen.wall_s};
  point.sites = seen.sites;
  point.abort_ends = ends;
  into.interrupted = seen.interrupted != 0 || seen.timed_out;
  into.points.push_back(std::move(point));

  if (what.ns_per_chain != 0) {
    into.more["wait_chains"] = to_json(seen.wait_chains);
    into.more["hold_chains"] = to_json(seen.hold_chains);
  }
  observe::json& run = into.more["run"];
  run = {{"policy", policy}, {"status", seen.exit_status}};
  if (WIFSIGNALED(seen.wait_status)) run["signal"] = WTERMSIG(seen.wait_status);
  if (seen.timed_out) run["timed_out"] = true;
  if (what.ns_per_chain != 0) run["ns_per_chain"] = what.ns_per_chain;
  run["cpu_s"] = seen.user_s + seen.system_s;
  run["others_cpu_s"] = seen.others_s;
  run["processes"] = seen.processes;
  if (seen.samples && seen.samples->why_not.empty())
    run["abort_samples"] = {{"samples", seen.samples->samples}, {"lost", seen.samples->lost}};
  if (!seen.diagnostics.empty()) run["notices"] = seen.diagnostics;
  if (!seen.remarks.empty()) run["remarks"] = seen.remarks;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
