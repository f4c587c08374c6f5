// SPDX-License-Identifier: Apache-2.0
// The user's words: lists, numbers, and suggestions for misspelt ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::cli {

using words = std::vector<std::string>;

/// "a,b,,c" in its four parts, including the empty one. An empty text has one empty part.
words split(std::string_view text, char separator = ',');

/// "a, b, c".
std::string join(const words& list);

/// The text as a number (workloads::parse_number(): 20000, 20K, 16Ki) of at most `greatest`. False for any other text.
bool parse_number(std::string_view text, std::uint64_t greatest, std::uint64_t& value);

/// The word of `allowed` that `wrong` most likely misspells; empty if none is near.
std::string nearest(std::string_view wrong, const words& allowed);

/// The words, quoted for a shell.
std::string command_line(const words& list);

/// "unknown WHAT 'WRONG'; allowed: a, b (did you mean 'a'?)".
std::string unknown(std::string_view what, std::string_view wrong, const words& allowed);

}  // namespace txsync::inline TXSYNC_BACKEND::cli
