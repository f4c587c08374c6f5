// SPDX-License-Identifier: Apache-2.0
// What is at an address of the program's memory, as far as the runtime knows. The reader of the records adds names.
#pragma once

#include <cstdint>

#include "../protocol.hpp"

namespace txsync::sim {

data_place data_place_at(std::uintptr_t address) noexcept;

}  // namespace txsync::sim
