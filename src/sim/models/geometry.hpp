// SPDX-License-Identifier: Apache-2.0
// What numbers of a model must be beside each other: no machine has a cache of half a set.
#pragma once

#include <optional>
#include <string>

#include "sim/model.hpp"

namespace txsync::sim {

/// What is impossible about a model.
struct impossibility {
  std::uint32_t machine_model::* at;  ///< the number to blame
  std::string what;                   ///< with what is allowed
};

/// The first thing that is impossible about numbers that are all in their ranges; none where the machine can be.
std::optional<impossibility> find_impossibility(const machine_model& model);

}  // namespace txsync::sim
