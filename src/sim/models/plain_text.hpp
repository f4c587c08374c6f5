// SPDX-License-Identifier: Apache-2.0
// A model as the runtime gets it: a line "section.key value" for each number, in the order of sim/model.hpp. No parser
// of TOML, no locale and no source stands in the runtime's image.
#pragma once

#include <string>
#include <string_view>

#include "sim/model.hpp"

namespace txsync::sim {

std::string to_plain_text(const machine_model& model);

/// The model that to_plain_text() was given. False, and nothing written, unless each number stands in the text once, in
/// its order and in its range, and nothing else does.
bool read_plain_text(std::string_view text, machine_model& into);

}  // namespace txsync::sim
