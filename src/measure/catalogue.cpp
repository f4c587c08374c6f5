// SPDX-License-Identifier: Apache-2.0
#include "measure/catalogue.hpp"

#include <string>
#include <utility>

#include "measure/describe.hpp"
#include "policy/policy.hpp"
#include "policy/presets.hpp"
#include "workloads/generators/text.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::measure {

using observe::json;

namespace {

json parameter_item(const workloads::parameter& key) {
  json item = {{"key", key.key}, {"meaning", key.words}, {"allowed", workloads::allowed_text(key)}};
  if (key.names.empty() && !key.is_file) {
    item["fallback"] = key.fallback;
  } else {
    item["fallback"] = workloads::value_text(key, key.fallback);
  }
  return item;
}

json preset_item(const workloads::workload& which, const workloads::preset& one) {
  json item = {{"name", one.name}, {"source", one.source}};
  item["params"] = named_values(which, workloads::preset_parameters(which, one));
  if (one.threads != 0) item["threads"] = one.threads;
  if (one.operations_per_thread != 0) item["operations_per_thread"] = one.operations_per_thread;
  return item;
}

}  // namespace

json workload_items() {
  json items = json::array();
  for (const workloads::workload& one : workloads::workloads()) {
    json item = {{"name", one.name}, {"summary", one.summary}, {"operation", one.operation}};
    for (const workloads::parameter& key : one.keys) item["parameters"].push_back(parameter_item(key));
    for (const workloads::preset& preset : one.presets) item["presets"].push_back(preset_item(one, preset));
    items.push_back(std::move(item));
  }
  return items;
}

json lock_items() {
  json items = json::array();
  for (const workloads::subject& one : workloads::subjects()) {
    if (one.is_algorithm) continue;
    json item = {{"name", one.name}, {"summary", one.summary}, {"kind", one.peer ? "peer" : "ours"}};
    if (const std::string waits = waiting_word(one.how); !waits.empty()) item["waiting"] = waits;
    item["shared"] = one.has_shared;
    if (one.speculates) item["speculates"] = true;
    if (one.simulated_only) item["simulated_only"] = true;
    if (one.is_barrier) item["barrier"] = true;
    items.push_back(std::move(item));
  }
  return items;
}

json algorithm_items() {
  json items = json::array();
  for (const workloads::subject& one : workloads::subjects()) {
    if (one.is_algorithm) items.push_back({{"name", one.name}, {"summary", one.summary}});
  }
  return items;
}

json policy_items() {
  json items = json::array();
  for (const policy::named_policy& one : policy::named_policies()) {
    items.push_back({{"name", one.name}, {"summary", one.summary}});
  }
  return items;
}

json preset_items() {
  json items = json::array();
  const auto add = [&items](const char* key, const auto& table) {
    for (const auto& one : table) {
      json item = {{"name", one.word}, {"key", key}, {"summary", one.summary}};
      if (*one.source != 0) item["source"] = one.source;
      items.push_back(std::move(item));
    }
  };
  add("elision", policy::elision_table);
  add("warm_up", policy::warm_up_table);
  return items;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::measure
