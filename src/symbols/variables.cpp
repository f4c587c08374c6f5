// SPDX-License-Identifier: Apache-2.0
#include "symbols/variables.hpp"

#include <dwarf.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {

namespace {

constexpr unsigned max_nesting = 200;  // more than compilers nest

/// Whether variables with an address of their own may stand in an entry of that tag.
bool holds_variables(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
      return true;
    default:
      return false;
  }
}

/// The address of a variable that has one and the same all the time.
bool has_address(Dwarf_Die* variable, Dwarf_Addr& address) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_getlocation(dwarf_attr(variable, DW_AT_location, &attribute), &operations, &count) != 0) return false;
  if (count != 1 || operations->atom != DW_OP_addr) return false;
  address = operations->number;
  return true;
}

/// The type of an entry, without names of types, const and volatile.
bool has_type(Dwarf_Die* entry, Dwarf_Die& type) {
  Dwarf_Attribute attribute;
  Dwarf_Die named;
  return dwarf_formref_die(dwarf_attr_integrate(entry, DW_AT_type, &attribute), &named) != nullptr &&
         dwarf_peel_type(&named, &type) == 0;
}

bool has_size(Dwarf_Die* type, Dwarf_Word& bytes) { return dwarf_aggregate_size(type, &bytes) == 0 && bytes != 0; }

bool is_of_standard_library(Dwarf_Die* type) {
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(type, &scopes);
  const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owner(count > 0 ? scopes : nullptr, &std::free);
  for (int i = 0; i < count; ++i) {
    const char* const name = dwarf_diename(&scopes[i]);
    if (dwarf_tag(&scopes[i]) == DW_TAG_namespace && name != nullptr && std::string_view(name) == "std") return true;
  }
  return false;
}

/// The member or base class that contains the offset; then the offset is one in it.
bool step_into_class(Dwarf_Die& type, std::uint64_t& offset, std::string& path) {
  Dwarf_Die member;
  if (is_of_standard_library(&type) || dwarf_child(&type, &member) != 0) return false;
  do {
    const int tag = dwarf_tag(&member);
    Dwarf_Attribute attribute;
    Dwarf_Word at = 0;
    Dwarf_Word bytes = 0;
    Dwarf_Die of;
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
    const bool is_static =
        dwarf_hasattr(&member, DW_AT_external) != 0 || dwarf_hasattr(&member, DW_AT_declaration) != 0;
    if (is_static || !has_type(&member, of) || !has_size(&of, bytes)) continue;
    if (dwarf_hasattr(&member, DW_AT_data_member_location) != 0 &&
        dwarf_formudata(dwarf_attr(&member, DW_AT_data_member_location, &attribute), &at) != 0)
      continue;  // of a virtual base class
    if (offset < at || offset - at >= bytes) continue;
    const char* const name = dwarf_diename(&member);
    if (tag == DW_TAG_member && name != nullptr) path.append(".").append(name);
    offset -= at;
    type = of;
    return true;
  } while (dwarf_siblingof(&member, &member) == 0);
  return false;
}

bool step_into_array(Dwarf_Die& type, std::uint64_t& offset, std::string& path) {
  Dwarf_Die element;
  Dwarf_Word bytes = 0;
  if (!has_type(&type, element) || !has_size(&element, bytes)) return false;
  path += fmt::format("[{}]", offset / bytes);
  offset %= bytes;
  type = element;
  return true;
}

}  // namespace

variables::variables(Dwfl_Module* module) {
  Dwarf_Addr bias = 0;
  for (Dwarf_Die* unit = dwfl_module_nextcu(module, nullptr, &bias); unit != nullptr;
       unit = dwfl_module_nextcu(module, unit, &bias)) {
    add(unit, bias, 0);
  }
}

void variables::add(Dwarf_Die* parent, Dwarf_Addr bias, unsigned depth) {
  Dwarf_Die entry;
  if (depth >= max_nesting || dwarf_child(parent, &entry) != 0) return;
  do {
    Dwarf_Addr address = 0;
    Dwarf_Die type;
    if (dwarf_tag(&entry) == DW_TAG_variable) {
      if (has_address(&entry, address) && has_type(&entry, type)) types_.emplace(address + bias, type);
    } else if (holds_variables(dwarf_tag(&entry))) {
      add(&entry, bias, depth + 1);
    }
  } while (dwarf_siblingof(&entry, &entry) == 0);
}

std::string variables::members(std::uint64_t begin, std::uint64_t& offset) const {
  std::string path;
  const auto found = types_.find(begin);
  if (found == types_.end()) return path;
  Dwarf_Die type = found->second;
  for (unsigned depth = 0; depth < max_nesting; ++depth) {
    const int tag = dwarf_tag(&type);
    const bool is_class = tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
    const bool is_array = tag == DW_TAG_array_type;
    if (!(is_class && step_into_class(type, offset, path)) && !(is_array && step_into_array(type, offset, path))) break;
  }
  return path;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
