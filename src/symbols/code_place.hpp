// SPDX-License-Identifier: Apache-2.0
// Places in an image's code, for people.
#pragma once

#include <cstdint>
#include <string>

#include "symbols/symbols.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {

/// "function (file:line)". Code of the C++ library that is inlined into other code gets that other code's place, with "
/// in LIBRARY FUNCTION" after it. The address if nothing is known; nothing for 0.
std::string place_name(const module_symbols& symbols, std::uint64_t code);

/// The runtime's text on a failure, without its own name at the beginning, and with the place instead of "code at
/// 0x...".
std::string with_places(const module_symbols& symbols, const std::string& text);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
