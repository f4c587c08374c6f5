// SPDX-License-Identifier: Apache-2.0
// A model in the form that the runtime gets: a line "section.key value" for each number, in the order of sim/model.hpp.
// So the runtime's image needs neither a TOML parser nor a locale, and contains no sources of numbers.
#pragma once

#include <string>
#include <string_view>

#include "sim/model.hpp"

namespace txsync::sim {

std::string to_plain_text(const machine_model& model);

/// Reads the text that to_plain_text() returned. Each number must be in the text once, in its order and in its range,
/// and nothing else may be there. Otherwise returns false and writes nothing.
bool read_plain_text(std::string_view text, machine_model& into);

}  // namespace txsync::sim
