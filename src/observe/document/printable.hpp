// SPDX-License-Identifier: Apache-2.0
// Names of files and symbols as text that a terminal shows but does not interpret.
#pragma once

#include <string>
#include <string_view>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// The text with "\x1b" and the like in place of control characters and bytes that are not UTF-8. A program chooses its
/// names, and a terminal would obey escape sequences in them.
std::string printable(std::string_view text);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
