// SPDX-License-Identifier: Apache-2.0
// txsync list KIND: what there is.
#include <algorithm>

#include "base/bad_input.hpp"
#include "base/words.hpp"
#include "cli/options.hpp"
#include "cli/verbs.hpp"
#include "measure/catalogue.hpp"
#include "measure/describe.hpp"
#include "simulate/catalogue.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::bad_input;
using base::join;
using base::unknown;
using base::words;

namespace {

using observe::json;

/// A member as it is printed; "-" if it is absent.
std::string text(const json& item, const char* member) {
  if (!item.contains(member)) return "-";
  return item[member].is_string() ? item[member].get<std::string>() : item[member].dump();
}

void print_preset(std::FILE* out, const json& preset) {
  std::fprintf(out, "    --preset %-16s %s:%s\n", text(preset, "name").c_str(), text(preset, "source").c_str(),
               measure::settings_text(preset["params"]).c_str());
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
    {"workloads", measure::workload_items, print_workloads, "none"},
    {"machines", simulate::machine_items, print_machines,
     "none beside this program; TXSYNC_MACHINES=FOLDER adds a folder of them"},
    {"locks", measure::lock_items, print_locks, "none"},
    {"policies", measure::policy_items, print_policies, "none"},
    {"presets", measure::preset_items, print_presets, "none"},
    {"algorithms", measure::algorithm_items, print_policies, "none"},
    {"experiments", simulate::experiment_items, print_experiments, "none"},
    {"tests", simulate::test_items, print_tests, "none; this build of txsync has no simulated machine"},
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
  const char* summary() const override { return "List the workloads, locks, machines, ... that txsync has"; }

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

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
