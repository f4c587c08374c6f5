// SPDX-License-Identifier: Apache-2.0
#include "symbols/code_scopes.hpp"

#include <dwarf.h>

#include <algorithm>
#include <tuple>

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {
namespace {

constexpr unsigned deepest = 200;  // more than compilers nest

bool is_function(int tag) { return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine; }

/// Whether functions may stand in an entry of that tag.
bool holds_functions(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      return true;
    default:
      return false;
  }
}

}  // namespace

code_scopes::code_scopes(Dwarf_Die* unit) {
  add(unit, none, 0);
  nest();
}

void code_scopes::add(Dwarf_Die* parent, std::size_t around, unsigned depth) {
  Dwarf_Die entry;
  if (depth >= deepest || dwarf_child(parent, &entry) != 0) return;
  do {
    const int tag = dwarf_tag(&entry);
    if (is_function(tag)) {
      add_function(&entry, around, depth);
    } else if (holds_functions(tag)) {
      add(&entry, around, depth + 1);
    }
  } while (dwarf_siblingof(&entry, &entry) == 0);
}

void code_scopes::add_function(Dwarf_Die* entry, std::size_t around, unsigned depth) {
  const std::size_t number = scopes_.size();
  scopes_.push_back({*entry, dwarf_tag(entry) == DW_TAG_subprogram ? none : around});
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  for (std::ptrdiff_t at = dwarf_ranges(entry, 0, &base, &begin, &end); at > 0;
       at = dwarf_ranges(entry, at, &base, &begin, &end)) {
    if (begin < end) stretches_.push_back({begin, end, number, depth, none});
  }
  add(entry, number, depth + 1);
}

void code_scopes::nest() {
  std::sort(stretches_.begin(), stretches_.end(), [](const stretch& a, const stretch& b) {
    return std::tuple(a.begin, b.end, a.depth) < std::tuple(b.begin, a.end, b.depth);
  });
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    while (!open.empty() && stretches_[open.back()].end <= stretches_[i].begin) open.pop_back();
    if (!open.empty()) stretches_[i].around = open.back();
    open.push_back(i);
  }
}

std::size_t code_scopes::at(Dwarf_Addr address) const {
  const auto next = std::upper_bound(stretches_.begin(), stretches_.end(), address,
                                     [](Dwarf_Addr place, const stretch& one) { return place < one.begin; });
  std::size_t number = next == stretches_.begin() ? none : static_cast<std::size_t>(next - stretches_.begin()) - 1;
  while (number != none && address >= stretches_[number].end) number = stretches_[number].around;
  return number == none ? none : stretches_[number].scope;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
