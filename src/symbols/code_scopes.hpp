// SPDX-License-Identifier: Apache-2.0
// The functions of one unit of debug information, by address. elfutils would walk through the unit for each address.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {

class code_scopes {
 public:
  static constexpr std::size_t none = ~std::size_t{0};

  /// A function, or a call that was replaced by the called function's code.
  struct scope {
    Dwarf_Die entry{};
    std::size_t around = none;  ///< the enclosing function
  };

  /// Walks through the unit once.
  explicit code_scopes(Dwarf_Die* unit);

  /// The innermost scope at an address, as it stands in the unit; `none` if there is none.
  std::size_t at(Dwarf_Addr address) const;
  scope& operator[](std::size_t number) { return scopes_[number]; }

 private:
  struct stretch {
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    std::size_t scope = none;
    unsigned depth = 0;         // of the scope
    std::size_t around = none;  // the enclosing stretch
  };

  void add(Dwarf_Die* parent, std::size_t around, unsigned depth);
  void add_function(Dwarf_Die* entry, std::size_t around, unsigned depth);
  void nest();

  std::vector<scope> scopes_;
  std::vector<stretch> stretches_;  // by begin; among those with the same begin the greatest first
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
