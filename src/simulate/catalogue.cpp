// SPDX-License-Identifier: Apache-2.0
#include "simulate/catalogue.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "base/bad_input.hpp"
#include "experiments/experiment.hpp"
#include "sim/models/machine_file.hpp"
#include "simulate/explore.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

using base::bad_input;
using observe::json;

namespace {

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

}  // namespace

json test_items() {
  json items = json::array();
  for (const exploration_test& one : exploration_tests())
    items.push_back({{"name", one.name}, {"summary", one.summary}});
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

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
