// SPDX-License-Identifier: Apache-2.0
// Functions and lines of the files of a program, by elfutils: symbol tables, DWARF, and the separate files of debug
// packages if they are installed. Never asks the network.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {

/// A function that contains a place: one that was called, or one that is inlined into the next one.
struct function_at {
  std::string name;          ///< qualified, without arguments
  std::string file;          ///< the compiler's path; empty without debug information
  unsigned line = 0;         ///< within the file; 0 without
  std::uint64_t offset = 0;  ///< of the place, from the function's begin
};

struct object_at {
  std::string name;
  std::uint64_t offset = 0;
};

/// An object in static storage.
struct static_object {
  std::string name;  ///< empty when there is none
  std::string file;  ///< the source file, if the module has other objects of the name; may be empty
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  ///< of the address in the object
};

/// One program or library.
class module_symbols {
 public:
  /// Opens the file. If that fails, no place in it is known.
  explicit module_symbols(const std::string& path);
  ~module_symbols();
  module_symbols(const module_symbols&) = delete;
  module_symbols& operator=(const module_symbols&) = delete;

  /// The functions around the call before `offset`, the innermost first; none if nothing is known. `offset` is an
  /// address in the file: the address after the call minus the file's load address.
  std::vector<function_at> around(std::uint64_t offset) const;

  /// The object with a name and a size that contains `address`, and the offset of the address in it. No name if there
  /// is none.
  object_at object(std::uint64_t address) const;

  /// The same, with the members on the way, if debug information has them: "queue.mutex", and the offset in that one.
  object_at member(std::uint64_t address) const;

  /// The same, with a name that no other object of the module has.
  static_object static_object_at(std::uint64_t address) const;

  /// The file has been replaced since it was opened.
  bool is_stale() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// "ns::cls::fn" for "_ZN2ns3cls2fnEi". A name that is not mangled stays. No arguments, no return type, no mark of a
/// compiler's copy (".part.0"). Long template arguments become "<>".
std::string readable_name(const char* symbol);

/// Whether a function (a name of readable_name()) belongs to the C++ library, or is internal to some library.
bool is_library_code(std::string_view function);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
