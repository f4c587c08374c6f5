// SPDX-License-Identifier: Apache-2.0
// What an exploration knows of each eight bytes of a program's memory. It knows who uses them, and whether they are a
// part of the heap that may be used. There are none before follow_program() (program_steps.hpp).
#pragma once

#include <cstdint>

#include "layout.hpp"

namespace txsync::sim {

/// How much of a granule the program may use, if it is on the heap: 1 to 8 bytes, or one of these.
enum class usable : std::uint8_t { not_known = 0, all = 8, beyond_block = 9, freed = 10 };

struct granule {
  std::uint16_t first_plus_one;  ///< the thread that came first, while there was more than one; 0: none
  bool several : 1;              ///< another has come
  bool written : 1;
  usable bytes;
  std::uint32_t users;  ///< the code that has accessed it, as a list (program_steps.cpp); until it is shared
};
inline constexpr unsigned granule_bytes = 8;
static_assert(sizeof(granule) == granule_bytes);

inline granule& granule_at(std::uintptr_t address) noexcept {
  return *reinterpret_cast<granule*>(granules_begin + address / granule_bytes * sizeof(granule));
}
inline granule& granule_of_number(std::uint32_t number) noexcept {
  return *reinterpret_cast<granule*>(granules_begin + std::uintptr_t{number} * sizeof(granule));
}
inline std::uint32_t number_of(const granule& at) noexcept {
  return static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(&at) - granules_begin) / sizeof(granule));
}
/// The first address of the next granule.
inline std::uintptr_t after_granule(std::uintptr_t address) noexcept {
  return (address / granule_bytes + 1) * granule_bytes;
}

}  // namespace txsync::sim
