// SPDX-License-Identifier: Apache-2.0
// The numbers of a machine model as a table: the list of sim/model.hpp, for code that iterates over it at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/model.hpp"

namespace txsync::sim {

struct field {
  const char* section;
  const char* key;
  std::uint32_t least;
  std::uint32_t most;
  const char* unit;     ///< empty if the number is a count or a choice
  const char* meaning;  ///< empty if the key says it
  std::uint32_t machine_model::* member;

  std::string name() const { return std::string(section) + "." + key; }
};

/// All numbers of a model, in the order of the list. Those of one section are adjacent.
std::span<const field> fields() noexcept;

inline constexpr std::size_t no_field = ~std::size_t{0};

/// The index of "section", "key" in fields(), or no_field.
std::size_t field_index(std::string_view section, std::string_view key) noexcept;

/// The index of a number in fields(), by its member.
std::size_t field_index(std::uint32_t machine_model::* member) noexcept;

}  // namespace txsync::sim
