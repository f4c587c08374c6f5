// SPDX-License-Identifier: Apache-2.0
// The simulated machine, as users name it and as documents describe it.
#include <fmt/core.h>

#include "base/bad_input.hpp"
#include "simulate/simulate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

sim::machine checked_machine(const std::optional<std::string>& word) {
  try {
    std::string names;
    for (const std::string& name : sim::machine_names()) names += (names.empty() ? "" : ", ") + name;
    if (!word) {
      throw base::bad_input(fmt::format("--machine is missing; allowed: {}, or a machine file (./NAME.toml)", names));
    }
    return sim::load_machine(*word);
  } catch (const sim::machine_error& error) {
    throw base::bad_input(error.what());
  }
}

observe::json machine_object(const sim::machine& machine) {
  const sim::machine_model& model = machine.model;
  observe::json made;
  made["backend"] = "simulated";
  made["cpu"] = machine.name + " (simulated)";
  made["cpus"] = model.hardware_threads();
  made["hardware_threads"] = model.hardware_threads();
  made["cores"] = model.total_cores();
  made["sockets"] = model.core_sockets;
  made["line_bytes"] = model.l1_line;
  made["page_bytes"] = model.page_bytes;
  made["kernel"] = "simulated";
  made["libc"] = "simulated";
  made["htm"] = {{"works", model.htm_attempts != 0}, {"verdict", sim::htm_words(model)}};
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
