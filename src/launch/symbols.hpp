// SPDX-License-Identifier: Apache-2.0
// Functions and lines of the files that a program consists of, by elfutils: symbol tables, DWARF, and the separate
// files of debug packages where they are installed. Never asks the network.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::launch {

/// A function that a place is in: as called, or inlined into the next one.
struct function_at {
  std::string name;          ///< qualified, without arguments
  std::string file;          ///< as the compiler had it; empty without debug information
  unsigned line = 0;         ///< within the file; 0 without
  std::uint64_t offset = 0;  ///< of the place behind the function's begin
};

struct object_at {
  std::string name;
  std::uint64_t offset = 0;
};

/// An object in static storage.
struct static_object {
  std::string name;  ///< empty when there is none
  std::string file;  ///< of the source, where the module has further objects of the name; may be empty
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  ///< of the address in the object
};

/// One program or library.
class module_symbols {
 public:
  /// Opens the file; when that fails, no place in it is known.
  explicit module_symbols(const std::string& path);
  ~module_symbols();
  module_symbols(const module_symbols&) = delete;
  module_symbols& operator=(const module_symbols&) = delete;

  /// The functions around the call before `offset` (the address behind a call, less the file's load address: an address
  /// as it stands in the file), the innermost first; none when nothing is known.
  std::vector<function_at> around(std::uint64_t offset) const;

  /// The object with a name and a size that lies at `address`, and where in it the address is; no name when there is
  /// none.
  object_at object(std::uint64_t address) const;

  /// The same, as a name that no other object of the module has.
  static_object static_object_at(std::uint64_t address) const;

  /// The file has been replaced since it was opened.
  bool is_stale() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// "ns::cls::fn" for "_ZN2ns3cls2fnEi", and for a name that is not mangled that name: no arguments, no return type, no
/// mark of a compiler's copy (".part.0"). Long template arguments become "<>".
std::string readable_name(const char* symbol);

}  // namespace txsync::inline TXSYNC_BACKEND::launch
