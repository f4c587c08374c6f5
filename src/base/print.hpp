// SPDX-License-Identifier: Apache-2.0
// Formatted text on a stream. Only sources include it, and only those that print: libfmt's header takes time to compile.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace txsync::base {

/// What print() calls.
void print_formatted(std::FILE* out, fmt::string_view format, fmt::format_args values);

/// Prints as std::fprintf() does, with the formats of libfmt. fmt::print() would throw if the stream cannot be written.
/// Here the stream keeps its error until somebody asks for it: a reader may end early (`txsync list locks | head -1`).
/// A number with a point and a width needs the sign `>` too: without it, libfmt 9 puts inf and nan on the left.
template <class... Values>
void print(std::FILE* out, fmt::format_string<Values...> format, Values&&... values) {
  print_formatted(out, format, fmt::make_format_args(values...));
}

/// The text, with blanks at its end up to `width` bytes: a column of names that users have chosen. The widths of libfmt
/// count columns of a terminal instead, which are other numbers outside ASCII.
std::string padded(std::string_view text, std::size_t width);

}  // namespace txsync::base
