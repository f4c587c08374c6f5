// SPDX-License-Identifier: Apache-2.0
#include "measure/describe.hpp"

#include "workloads/generators/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::measure {

observe::json named_values(const workloads::workload& which, const workloads::parameters& values) {
  observe::json made = observe::json::object();
  for (unsigned i = 0; i < which.keys.size(); ++i) {
    const workloads::parameter& key = which.keys[i];
    if (key.names.empty() && !key.is_file) {
      made[key.key] = values[i];
    } else {
      made[key.key] = workloads::value_text(key, values[i]);
    }
  }
  return made;
}

std::string settings_text(const observe::json& values) {
  std::string text;
  for (const auto& [key, value] : values.items()) {
    text += " " + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

const char* waiting_word(workloads::waiting how) {
  return how == workloads::waiting::spins ? "spins" : how == workloads::waiting::parks ? "parks" : "";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::measure
