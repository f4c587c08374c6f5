// SPDX-License-Identifier: Apache-2.0
// The user's words: lists, numbers, and suggestions for misspelt ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace txsync::base {

using words = std::vector<std::string>;

/// "a,b,,c" in its four parts, including the empty one. An empty text has one empty part.
words split(std::string_view text, char separator = ',');

/// "a, b, c".
std::string join(const words& list);

/// A number in the form of the command lines: digits, followed by nothing, by K, M or G (decimal), or by Ki, Mi or Gi.
/// Nothing for all other texts, such as signs and blanks, and for numbers that are too large.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// The allowed endings of such a number, for helps and errors: "K, M, G, ...".
std::string number_endings();

/// The text as such a number of at most `greatest`. False for any other text.
bool parse_number(std::string_view text, std::uint64_t greatest, std::uint64_t& value);

/// The number in an option's text, as parse_number() reads it; `fallback` if the option is absent. Throws bad_input.
std::uint64_t number_of(const char* option, const std::optional<std::string>& text, std::uint64_t least,
                        std::uint64_t greatest, std::uint64_t fallback);

/// "0x1f".
std::string hexadecimal(std::uint64_t number);

/// The word of `allowed` that `wrong` most likely misspells; empty if none is near.
std::string nearest(std::string_view wrong, const words& allowed);

/// The words, quoted for a shell.
std::string command_line(const words& list);

/// "unknown WHAT 'WRONG'; allowed: a, b (did you mean 'a'?)".
std::string unknown(std::string_view what, std::string_view wrong, const words& allowed);

}  // namespace txsync::base
