// SPDX-License-Identifier: Apache-2.0
// Names of files and symbols as text that a terminal only shows.
#pragma once

#include <string>
#include <string_view>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::observe {

/// The text with "\x1b" and the like for control characters and for bytes that are no UTF-8: a program chooses its
/// names, and escape sequences in them would be obeyed.
std::string printable(std::string_view text);

}  // namespace txsync::inline TXSYNC_BACKEND::observe
