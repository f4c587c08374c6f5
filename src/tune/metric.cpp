// SPDX-License-Identifier: Apache-2.0
#include "tune/metric.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::tune {
namespace {

/// std::regex recurses with the length of its subject; a longer line could exhaust the stack.
constexpr std::size_t max_line_bytes = 4096;
constexpr std::size_t max_shown_letters = 120;

std::regex compiled(const std::string& text) {
  try {
    std::regex regex(text, std::regex::ECMAScript);
    if (regex.mark_count() == 1) return regex;
    throw metric_error(fmt::format(
        "'{}' has {} capture groups; allowed: exactly one, around the number, for example 'rate: ([0-9.]+)'", text,
        regex.mark_count()));
  } catch (const std::regex_error& error) {
    throw metric_error(fmt::format("'{}' is not a regular expression: {}", text, error.what()));
  }
}

std::string_view without_end(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  return line;
}

/// Calls `call` with each line, from the last to the first, until it returns true.
template <class Function>
void lines_from_the_end(std::string_view text, Function&& call) {
  while (!text.empty()) {
    const std::size_t start = text.size() < 2 ? std::string_view::npos : text.rfind('\n', text.size() - 2);
    const std::size_t from = start == std::string_view::npos ? 0 : start + 1;
    if (call(without_end(text.substr(from)))) return;
    text = text.substr(0, from);
  }
}

/// Whether the whole text is a number that can be measured: finite and not negative.
bool number(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value) && value >= 0;
}

/// The group of the line's last match; empty if there is none.
std::string last_match(std::string_view line, const std::regex& regex) {
  line = line.substr(0, max_line_bytes);
  std::string group;
  for (std::cregex_iterator i(line.data(), line.data() + line.size(), regex), end; i != end; ++i) group = (*i)[1];
  return group;
}

}  // namespace

metric::metric(std::string regex) : text_(std::move(regex)), regex_(compiled(text_)) {}

metric::found metric::in(std::string_view output) const {
  found result;
  std::string group;
  lines_from_the_end(output, [&](std::string_view line) {
    group = last_match(line, regex_);
    return !group.empty();
  });
  if (group.empty()) {
    result.failure = fmt::format("the output has no line that matches '{}'; {}", text_, last_lines(output));
  } else if (!number(group, result.value)) {
    result.failure = fmt::format("'{}', which '{}' found in the output, is not a number from 0 up", group, text_);
  }
  return result;
}

std::string last_lines(std::string_view output, unsigned count) {
  std::vector<std::string> lines;
  lines_from_the_end(output, [&](std::string_view line) {
    if (!line.empty()) lines.emplace_back(line.substr(0, max_shown_letters));
    return lines.size() == count;
  });
  if (lines.empty()) return "it printed nothing";
  std::reverse(lines.begin(), lines.end());
  std::string text = "its last lines:";
  for (const std::string& line : lines) text += (text.back() == ':' ? " '" : " / '") + line + "'";
  return text;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
