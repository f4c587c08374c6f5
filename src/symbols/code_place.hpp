// SPDX-License-Identifier: Apache-2.0
// Places in an image's code, for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "symbols/symbols.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {

/// A place in the source.
struct code_place {
  std::string name;     ///< "function (file:line)"; the address if nothing is known; nothing for 0
  std::string library;  ///< the function of the C++ library that is inlined there; else empty
  std::string file;     ///< the compiler's path; empty without debug information
  unsigned line = 0;    ///< within the file; 0 without
};

/// Code of the C++ library that is inlined into other code gets that other code's place.
code_place place_of(const module_symbols& symbols, std::uint64_t code);

/// "function (file:line)". Code of the C++ library that is inlined into other code gets that other code's place, with "
/// in LIBRARY FUNCTION" after it. The address if nothing is known; nothing for 0.
std::string place_name(const module_symbols& symbols, std::uint64_t code);

/// The name of a function as the program calls it: the recipe of simulated programs has renamed some.
std::string name_in_program(std::string_view name);

/// "object", "object.member" or "object+8"; empty if no object of the image is there. Unnamed namespaces are left out.
std::string data_name(const module_symbols& symbols, std::uint64_t address);

/// The runtime's text on a failure, without its own name at the beginning, and with names. "code at 0x..." becomes the
/// place; the frames between the begin of a thread and the program are left out. For an object of the image, "lock at
/// 0x..." becomes "lock NAME", and "data at 0x..." NAME.
std::string with_places(const module_symbols& symbols, const std::string& text);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
