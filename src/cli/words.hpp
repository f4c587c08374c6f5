// SPDX-License-Identifier: Apache-2.0
// Words of the user: lists, numbers, and what he may have meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::cli {

using words = std::vector<std::string>;

/// "a,b,,c" in its four parts, the empty one too; one empty part for an empty text.
words split(std::string_view text, char separator = ',');

/// "a, b, c".
std::string join(const words& list);

/// The text as a number (workloads::parse_number(): 20000, 20K, 16Ki) of at most `greatest`; false for all else.
bool parse_number(std::string_view text, std::uint64_t greatest, std::uint64_t& value);

/// The word of `allowed` that `wrong` is most likely a misspelling of; empty when none is near.
std::string nearest(std::string_view wrong, const words& allowed);

/// The words as a shell takes them.
std::string command_line(const words& list);

/// "unknown WHAT 'WRONG'; allowed: a, b (did you mean 'a'?)".
std::string unknown(std::string_view what, std::string_view wrong, const words& allowed);

}  // namespace txsync::inline TXSYNC_BACKEND::cli
