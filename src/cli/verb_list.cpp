// SPDX-License-Identifier: Apache-2.0
// txsync list KIND: what there is.
#include <algorithm>

#include <fmt/core.h>

#include "base/bad_input.hpp"
#include "base/print.hpp"
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
  base::print(out, "    --preset {:16} {}:{}\n", text(preset, "name"), text(preset, "source"),
              measure::settings_text(preset["params"]));
}

void print_workloads(std::FILE* out, const json& items) {
  for (const json& item : items) {
    base::print(out, "{}: {}; counts {}\n", text(item, "name"), text(item, "summary"), text(item, "operation"));
    for (const json& key : item.value("parameters", json::array())) {
      const std::string set = text(key, "key") + "=" + text(key, "fallback");
      base::print(out, "    {:25} {} ({})\n", set, text(key, "meaning"), text(key, "allowed"));
    }
    for (const json& preset : item.value("presets", json::array())) print_preset(out, preset);
  }
}

void print_locks(std::FILE* out, const json& items) {
  for (const json& item : items) {
    base::print(out, "{:22} {:5} {:6} {}{}\n", text(item, "name"), text(item, "kind"), text(item, "waiting"),
                text(item, "summary"), item.contains("simulated_only") ? "; simulated only" : "");
  }
}

void print_policies(std::FILE* out, const json& items) {
  for (const json& item : items) {
    base::print(out, "{:12} {}\n", text(item, "name"), text(item, "summary"));
  }
}

void print_presets(std::FILE* out, const json& items) {
  for (const json& item : items) {
    const std::string word = fmt::format("{} = \"{}\"", text(item, "key"), text(item, "name"));
    const std::string source = item.contains("source") ? " (" + text(item, "source") + ")" : "";
    base::print(out, "{:27} {}{}\n", word, text(item, "summary"), source);
  }
}

void print_tests(std::FILE* out, const json& items) {
  for (const json& item : items) {
    base::print(out, "{:32} {}\n", text(item, "name"), text(item, "summary"));
  }
}

/// "36 x 2": cores, and hardware threads of each.
std::string cores_text(const json& machine) {
  const auto cores = machine["cores"].get<unsigned>();
  return fmt::format("{} x {}", cores, machine["hardware_threads"].get<unsigned>() / cores);
}

void print_machines(std::FILE* out, const json& items) {
  std::size_t widest = 0;
  for (const json& item : items) widest = std::max(widest, text(item, "htm").size());
  base::print(out, "{:20} {:8} {:9} {:{}} title\n", "machine", "cores", "clock", "hardware transactions", widest);
  for (const json& item : items) {
    base::print(out, "{} {:8} {:.2f} GHz  {:{}} {}\n", base::padded(text(item, "name"), 20), cores_text(item),
                item["mhz"].get<double>() / 1000, text(item, "htm"), widest, text(item, "summary"));
  }
}

void print_experiments(std::FILE* out, const json& items) {
  for (const json& item : items) {
    base::print(out, "{:27} {:16} {} ({})\n", text(item, "name"), text(item, "machine"), text(item, "summary"),
                text(item, "source"));
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
    {"tests", simulate::test_items, print_tests, "none; ./dev build builds them"},
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
      base::print(with.table, "{}: {}\n", asked.name, asked.when_empty);
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
