// SPDX-License-Identifier: Apache-2.0
#include "sim/models/field.hpp"

namespace txsync::sim {
namespace {

constexpr field all_fields[] = {
#define TXSYNC_SIM_FIELD(section, key, least, most, unit, meaning) \
  {#section, #key, least, most, unit, meaning, &machine_model::section##_##key},
    TXSYNC_SIM_MODEL(TXSYNC_SIM_FIELD)
#undef TXSYNC_SIM_FIELD
};

template <class Wanted>
std::size_t find(Wanted wanted) {
  for (std::size_t index = 0; index < std::size(all_fields); ++index) {
    if (wanted(all_fields[index])) return index;
  }
  return no_field;
}

}  // namespace

std::span<const field> fields() noexcept { return all_fields; }

std::size_t field_index(std::string_view section, std::string_view key) noexcept {
  return find([&](const field& one) { return section == one.section && key == one.key; });
}

std::size_t field_index(std::uint32_t machine_model::* member) noexcept {
  return find([&](const field& one) { return member == one.member; });
}

}  // namespace txsync::sim
