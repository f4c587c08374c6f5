// SPDX-License-Identifier: Apache-2.0
// Texts and numbers of the page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {

using observe::json;

/// Safe between tags and in quoted attributes. Control characters, which HTML does not allow, become spaces.
std::string escaped(std::string_view text);

/// "<td>TEXT</td>", escaped; with class "n" for numbers.
std::string cell(std::string_view text);
std::string number_cell(std::string_view text);

/// At most `most` characters (code points). The middle is left out: "a long na…er:12".
std::string shortened(std::string_view text, std::size_t most);
/// The first `count` characters.
std::string beginning(std::string_view text, std::size_t count);
/// The number of code points of UTF-8.
std::size_t length(std::string_view text);

/// Four significant figures, without an exponent if possible: "1234", "1.234", "0.01234", "0".
std::string figures(double value, int significant = 4);
/// "12,345,678".
std::string grouped(double value);
/// A fraction from 0 to 1 as "12.3 %".
std::string percent(double part);
/// A time in a suitable unit: "850 ns", "1.25 ms", "12.3 s".
std::string duration(double nanoseconds, int significant = 3);

/// A unit with its factor: a value divided by `by` is in `unit`.
struct scale {
  double by = 1;
  std::string unit;
};
/// A unit in which the greatest value is readable: "million sections/s", "ms".
scale scale_for(double greatest, const std::string& unit);

/// How `after` differs from `before`: "+35 %", "−80 %", "12 times", "new", "gone", "no change".
std::string change_words(double before, double after);

/// A name of code without its line number, which changes with every edit of the file: "f (a.cpp:12)" becomes "f
/// (a.cpp)".
std::string without_line(std::string_view name);

/// The words as one would type them into a POSIX shell.
std::string shell_line(const std::vector<std::string>& words);

/// The member as text; empty if missing.
std::string text_of(const json& object, const char* member);
/// The member as a number; `fallback` if missing.
double number_of(const json& object, const char* member, double fallback = 0);
/// Nanoseconds that threads waited for locks at the site, whether they got them or not.
double waiting_of(const json& site);
/// For a point or a comparison: whether lower values are better.
bool lower_is_better(const json& measured);
/// The member as an array or object; an empty one if missing.
const json& part_of(const json& object, const char* member);
/// "conflict 61 %, lock-busy 30 %" for the attempts of a point or site; "none" if there are none.
std::string causes_of_aborts(const json& counted);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
