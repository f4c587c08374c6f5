// SPDX-License-Identifier: Apache-2.0
// How a model's numbers must fit together: no machine has a cache with half a set.
#pragma once

#include <optional>
#include <string>

#include "sim/model.hpp"

namespace txsync::sim {

/// Why a model is impossible.
struct impossibility {
  std::uint32_t machine_model::* at;  ///< the number to blame
  std::string what;                   ///< why, and what is allowed
};

/// The first impossibility among numbers that are all in their ranges; nothing if the machine can exist.
std::optional<impossibility> find_impossibility(const machine_model& model);

}  // namespace txsync::sim
