// SPDX-License-Identifier: Apache-2.0
// The objects of a file that debug information describes, and their members.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <string>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {

class variables {
 public:
  /// Walks through all units once. Requires: the module outlives this.
  explicit variables(Dwfl_Module* module);

  /// What is at an offset of the object that begins at an address: ".mutex", "[3].count". Objects of the namespace std
  /// are not looked into. `offset` becomes what is left of it.
  std::string members(std::uint64_t begin, std::uint64_t& offset) const;

 private:
  void add(Dwarf_Die* parent, Dwarf_Addr bias, unsigned depth);

  std::map<std::uint64_t, Dwarf_Die> types_;  // by the object's address
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
