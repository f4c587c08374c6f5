// SPDX-License-Identifier: Apache-2.0
// txsync list KIND: what there is.
#include <algorithm>

#include "measure/describe.hpp"
#include "simulate/explore.hpp"
#include "cli/options.hpp"
#include "cli/verbs.hpp"
#include "base/words.hpp"
#include "experiments/experiment.hpp"
#include "policy/policy.hpp"
#include "policy/presets.hpp"
#include "sim/models/machine_file.hpp"
#include "workloads/generators/text.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

using observe::json;

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

json test_items() {
  json items = json::array();
  for (const exploration_test& one : exploration_tests())
    items.push_back({{"name", one.name}, {"summary", one.summary}});
  return items;
}

json number_items(const sim::machine& of) {
  json items = json::array();
  for (std::size_t index = 0; index < of.from.size(); ++index) {
    const sim::field& number = sim::fields()[index];
    json item = {{"key", number.name()},
                 {"value", of.model.*number.member},
                 {"source", of.from[index].source},
                 {"confidence", sim::to_string(of.from[index].how)}};
    if (*number.unit != '\0') item["unit"] = number.unit;
    items.push_back(std::move(item));
  }
  return items;
}

json machine_items() {
  json items = json::array();
  try {
    for (const std::string& name : sim::machine_names()) {
      const sim::machine one = sim::load_machine(name);
      items.push_back({{"name", one.name},
                       {"summary", one.title},
                       {"sockets", one.model.core_sockets},
                       {"cores", one.model.total_cores()},
                       {"hardware_threads", one.model.hardware_threads()},
                       {"mhz", one.model.core_mhz},
                       {"htm", sim::htm_words(one.model)},
                       {"file", one.file},
                       {"notes", one.notes},
                       {"numbers", number_items(one)}});
    }
  } catch (const sim::machine_error& error) {
    throw bad_input(error.what());
  }
  return items;
}

json experiment_items() {
  json items = json::array();
  for (const experiments::experiment& one : experiments::all()) {
    items.push_back({{"name", one.id},
                     {"summary", one.title},
                     {"source", one.source},
                     {"machine", one.machine},
                     {"workload", one.workload}});
  }
  return items;
}

/// A member as it is printed; "-" if it is absent.
std::string text(const json& item, const char* member) {
  if (!item.contains(member)) return "-";
  return item[member].is_string() ? item[member].get<std::string>() : item[member].dump();
}

void print_preset(std::FILE* out, const json& preset) {
  std::fprintf(out, "    --preset %-16s %s:%s\n", text(preset, "name").c_str(), text(preset, "source").c_str(),
               settings_text(preset["params"]).c_str());
}

void print_workloads(std::FILE* out, const json& items) {
  for (const json& item : items) {
    std::fprintf(out, "%s: %s; counts %s\n", text(item, "name").c_str(), text(item, "summary").c_str(),
                 text(item, "operation").c_str());
    for (const json& key : item.value("parameters", json::array())) {
      const std::string set = text(key, "key") + "=" + text(key, "fallback");
      std::fprintf(out, "    %-25s %s (%s)\n", set.c_str(), text(key, "meaning").c_str(), text(key, "allowed").c_str());
    }
    for (const json& preset : item.value("presets", json::array())) print_preset(out, preset);
  }
}

void print_locks(std::FILE* out, const json& items) {
  for (const json& item : items) {
    std::fprintf(out, "%-22s %-5s %-6s %s%s\n", text(item, "name").c_str(), text(item, "kind").c_str(),
                 text(item, "waiting").c_str(), text(item, "summary").c_str(),
                 item.contains("simulated_only") ? "; simulated only" : "");
  }
}

void print_policies(std::FILE* out, const json& items) {
  for (const json& item : items) {
    std::fprintf(out, "%-12s %s\n", text(item, "name").c_str(), text(item, "summary").c_str());
  }
}

void print_presets(std::FILE* out, const json& items) {
  for (const json& item : items) {
    const std::string word = text(item, "key") + " = \"" + text(item, "name") + "\"";
    const std::string source = item.contains("source") ? " (" + text(item, "source") + ")" : "";
    std::fprintf(out, "%-27s %s%s\n", word.c_str(), text(item, "summary").c_str(), source.c_str());
  }
}

void print_tests(std::FILE* out, const json& items) {
  for (const json& item : items) {
    std::fprintf(out, "%-32s %s\n", text(item, "name").c_str(), text(item, "summary").c_str());
  }
}

/// "36 x 2": cores, and hardware threads of each.
std::string cores_text(const json& machine) {
  const auto cores = machine["cores"].get<unsigned>();
  return std::to_string(cores) + " x " + std::to_string(machine["hardware_threads"].get<unsigned>() / cores);
}

void print_machines(std::FILE* out, const json& items) {
  std::size_t widest = 0;
  for (const json& item : items) widest = std::max(widest, text(item, "htm").size());
  const int width = static_cast<int>(widest);
  std::fprintf(out, "%-20s %-8s %-9s %-*s %s\n", "machine", "cores", "clock", width, "hardware transactions", "title");
  for (const json& item : items) {
    std::fprintf(out, "%-20s %-8s %.2f GHz  %-*s %s\n", text(item, "name").c_str(), cores_text(item).c_str(),
                 item["mhz"].get<double>() / 1000, width, text(item, "htm").c_str(), text(item, "summary").c_str());
  }
}

void print_experiments(std::FILE* out, const json& items) {
  for (const json& item : items) {
    std::fprintf(out, "%-27s %-16s %s (%s)\n", text(item, "name").c_str(), text(item, "machine").c_str(),
                 text(item, "summary").c_str(), text(item, "source").c_str());
  }
}

struct kind {
  const char* name;
  json (*items)();
  void (*print)(std::FILE* out, const json& items);
  const char* when_empty;
};

constexpr kind kinds[] = {
    {"workloads", workload_items, print_workloads, "none"},
    {"machines", machine_items, print_machines, "none beside this program; TXSYNC_MACHINES names a folder of them"},
    {"locks", lock_items, print_locks, "none"},
    {"policies", policy_items, print_policies, "none"},
    {"presets", preset_items, print_presets, "none"},
    {"algorithms", algorithm_items, print_policies, "none"},
    {"experiments", experiment_items, print_experiments, "none"},
    {"tests", test_items, print_tests,
     "none yet; they come with the simulated machine, without which this txsync was built"},
};

words kind_names() {
  words names;
  for (const kind& one : kinds) names.emplace_back(one.name);
  return names;
}

const kind& kind_of(const std::string& name) {
  if (name.empty()) throw bad_input("a kind is missing; allowed: " + join(kind_names()));
  for (const kind& one : kinds) {
    if (name == one.name) return one;
  }
  throw bad_input(unknown("kind", name, kind_names()));
}

class list_verb final : public verb {
 public:
  const char* name() const override { return "list"; }
  const char* summary() const override { return "Say which workloads, locks, ... there are"; }

  void define(CLI::App& app) override { argument(app, "KIND", kind_, "One of " + join(kind_names())); }

  int run(session& with) override {
    const kind& asked = kind_of(kind_);
    const json items = asked.items();
    if (items.empty()) {
      std::fprintf(with.table, "%s: %s\n", asked.name, asked.when_empty);
    } else {
      asked.print(with.table, items);
    }
    with.document.more["list"] = {{"kind", asked.name}, {"items", items}};
    return ok;
  }

 private:
  std::string kind_;
};

}  // namespace

std::unique_ptr<verb> make_list() { return std::make_unique<list_verb>(); }

}  // namespace txsync::inline TXSYNC_BACKEND::cli
