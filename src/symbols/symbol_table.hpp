// SPDX-License-Identifier: Apache-2.0
// The symbols of one file, sorted: elfutils would search all of them for each address.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {

/// A function or an object with a name and a size.
struct sized_symbol {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t reach = 0;     ///< the greatest end of this symbol and the earlier ones
  const char* name = nullptr;  ///< as the linker has it
  const char* file = nullptr;  ///< of the source, for a local symbol; else null
  int binding = 0;             ///< STB_...
};

class symbol_table {
 public:
  /// Requires: the module outlives this.
  explicit symbol_table(Dwfl_Module* module);

  /// Null if none contains the address. Among several the innermost; among several names for it a global one.
  const sized_symbol* function_at(std::uint64_t address) const { return find(functions_, address); }
  const sized_symbol* object_at(std::uint64_t address) const { return find(objects_, address); }

  /// How many objects have that readable name, and how many of them come from the source file.
  unsigned objects_named(const std::string& name) const;
  unsigned objects_named(const std::string& name, const char* file) const;

 private:
  static void sort(std::vector<sized_symbol>& list);
  static const sized_symbol* find(const std::vector<sized_symbol>& list, std::uint64_t address);

  std::vector<sized_symbol> functions_;  // by begin
  std::vector<sized_symbol> objects_;    // likewise
  std::unordered_map<std::string, unsigned> names_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
