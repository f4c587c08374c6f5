// SPDX-License-Identifier: Apache-2.0
// Texts and numbers of the page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::inline TXSYNC_BACKEND::report {

using observe::json;

/// Safe between tags and in quoted attributes. Control characters, which HTML does not allow, become spaces.
std::string escaped(std::string_view text);

/// "<td>TEXT</td>", escaped; with class "n" for numbers.
std::string cell(std::string_view text);
std::string number_cell(std::string_view text);

/// At most `most` characters (code points), the middle left out: "a long na…er:12".
std::string shortened(std::string_view text, std::size_t most);
/// The first `count` characters.
std::string beginning(std::string_view text, std::size_t count);
/// The number of code points of UTF-8.
std::size_t length(std::string_view text);

/// Four significant figures, without an exponent where it can be: "1234", "1.234", "0.01234", "0".
std::string figures(double value, int significant = 4);
/// "12,345,678".
std::string grouped(double value);
/// "12.3 %" of a part from 0 to 1.
std::string percent(double part);
/// A time in the unit that suits it: "850 ns", "1.25 ms", "12.3 s".
std::string duration(double nanoseconds, int significant = 3);

/// A unit with its factor: values / by are in `unit`.
struct scale {
  double by = 1;
  std::string unit;
};
/// So that the greatest of the values reads well: "million sections/s", "ms".
scale scale_for(double greatest, const std::string& unit);

/// How `after` differs from `before`: "+35 %", "−80 %", "12 times", "new", "gone", "no change".
std::string change_words(double before, double after);

/// A name of code without the numbers of lines in it, which move with every change of the file: "f (a.cpp:12)" becomes
/// "f (a.cpp)".
std::string without_line(std::string_view name);

/// The words as a POSIX shell would have to be given them.
std::string shell_line(const std::vector<std::string>& words);

/// The member as text; empty when it is not there.
std::string text_of(const json& object, const char* member);
/// The member as number, `fallback` when it is not there.
double number_of(const json& object, const char* member, double fallback = 0);
/// Nanoseconds that threads waited at the site for locks, whether they got them or not.
double waiting_of(const json& site);
/// Of a point, or a contest: whether less of what was measured is better.
bool lower_is_better(const json& measured);
/// The member as array or object; an empty one when it is not there.
const json& part_of(const json& object, const char* member);
/// "conflict 61 %, lock-busy 30 %", of the attempts of a point or a site; "none".
std::string causes_of_aborts(const json& counted);

}  // namespace txsync::inline TXSYNC_BACKEND::report
