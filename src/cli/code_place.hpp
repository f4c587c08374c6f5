// SPDX-License-Identifier: Apache-2.0
// Places in an image's code, for people.
#pragma once

#include <cstdint>
#include <string>

#include "launch/symbols.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {

std::string hexadecimal(std::uint64_t number);

/// "function (file:line)", for code that is inlined from the C++ library into other code that other code, with
/// " in LIBRARY FUNCTION" behind it; the address where nothing is known, nothing for 0.
std::string place_name(const launch::module_symbols& symbols, std::uint64_t code);

/// What the runtime says of a failure, without its own name before it, and with "code at 0x..." replaced by the
/// place's.
std::string with_places(const launch::module_symbols& symbols, const std::string& text);

}  // namespace txsync::inline TXSYNC_BACKEND::cli
