// SPDX-License-Identifier: Apache-2.0
#include "report/text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// The first `count` code points.
std::string_view head(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && count-- != 0) {
    do ++at;
    while (at < text.size() && continues(text[at]));
  }
  return text.substr(0, at);
}

std::string_view tail(std::string_view text, std::size_t count) {
  std::size_t at = text.size();
  while (at > 0 && count-- != 0) {
    do --at;
    while (at > 0 && continues(text[at]));
  }
  return text.substr(at);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  for (const char letter : text) {
    switch (letter) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += (static_cast<unsigned char>(letter) < 0x20 && letter != '\n') || letter == 0x7F ? ' ' : letter;
    }
  }
  return html;
}

std::string cell(std::string_view text) { return fmt::format("<td>{}</td>", escaped(text)); }
std::string number_cell(std::string_view text) { return fmt::format(R"(<td class="n">{}</td>)", escaped(text)); }

std::size_t length(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

std::string beginning(std::string_view text, std::size_t count) { return std::string(head(text, count)); }

std::string shortened(std::string_view text, std::size_t most) {
  if (length(text) <= most) return std::string(text);
  const std::size_t kept = most - 1;
  return fmt::format("{}…{}", head(text, kept / 2), tail(text, kept - kept / 2));
}

std::string figures(double value, int significant) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return "–";
  const int before = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  if (before > 9 || before < -5) return fmt::format("{:.{}e}", value, significant - 1);
  return fmt::format("{:.{}f}", value, std::max(0, significant - before));
}

std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) {
    if (digits[at - 4] == '-') break;
    digits.insert(at - 3, ",");
  }
  return digits;
}

std::string percent(double part) {
  const double shown = 100 * part;
  return fmt::format("{:.{}f} %", shown, shown >= 10 || shown == 0 ? 0 : shown >= 1 ? 1 : 2);
}

std::string duration(double nanoseconds, int significant) {
  const scale unit = scale_for(nanoseconds, "ns");
  return fmt::format("{} {}", figures(nanoseconds / unit.by, significant), unit.unit);
}

scale scale_for(double greatest, const std::string& unit) {
  struct step {
    double by;
    const char* words;
  };
  if (unit == "ns" || unit == "s") {
    const double second = unit == "s" ? 1 : 1e9;
    for (const step& one : {step{1, "s"}, step{1e-3, "ms"}, step{1e-6, "µs"}}) {
      if (greatest >= one.by * second) return {one.by * second, one.words};
    }
    return {1e-9 * second, "ns"};
  }
  for (const step& one : {step{1e9, "billion "}, step{1e6, "million "}, step{1e3, "thousand "}}) {
    if (greatest >= one.by) return {one.by, one.words + unit};
  }
  return {1, unit};
}

std::string change_words(double before, double after) {
  if (before == after) return "no change";
  if (before == 0) return "new";
  if (after == 0) return "gone";
  if (after / before >= 10) return figures(after / before, 3) + " times";
  const double change = std::fabs(100 * (after / before - 1));
  return fmt::format("{}{:.{}f} %", after > before ? "+" : "−", change, change >= 10 ? 0 : 1);
}

std::string without_line(std::string_view name) {
  std::string kept;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at + 1;
    while (name[at] == ':' && end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    const bool line = end > at + 1 && (end == name.size() || name[end] == ')' || name[end] == ' ');
    if (!line) kept += name.substr(at, end - at);
    at = end;
  }
  return kept;
}

namespace {

/// In the shell's $'...' quotes, which keep any word on one line.
std::string escaped_word(const std::string& word) {
  std::string quoted;
  for (const char letter : word) {
    if (letter == '\'' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return "$'" + observe::printable(quoted) + "'";
}

}  // namespace

std::string shell_line(const std::vector<std::string>& words) {
  constexpr std::string_view plain = "-_./=:,+@%";
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    const bool safe = !word.empty() && std::all_of(word.begin(), word.end(), [&](char letter) {
      return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
             plain.find(letter) != std::string_view::npos;
    });
    if (safe) {
      line += word;
      continue;
    }
    if (observe::printable(word) != word) {
      line += escaped_word(word);
      continue;
    }
    line += '\'';
    for (const char letter : word) line += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    line += '\'';
  }
  return line;
}

std::string text_of(const json& object, const char* member) {
  const auto it = object.find(member);
  if (it == object.end()) return {};
  return it->is_string() ? it->get<std::string>() : it->dump();
}

double number_of(const json& object, const char* member, double fallback) {
  const auto it = object.find(member);
  return it == object.end() ? fallback : it->get<double>();
}

double waiting_of(const json& site) { return number_of(site, "wait_ns") + number_of(site, "failed_wait_ns"); }

bool lower_is_better(const json& measured) { return text_of(measured, "better") == "lower"; }

const json& part_of(const json& object, const char* member) {
  static const json nothing = json::array();
  const auto it = object.find(member);
  return it == object.end() ? nothing : *it;
}

std::string causes_of_aborts(const json& counted) {
  std::string causes;
  const double attempts = number_of(counted, "attempts");
  for (const auto& [cause, count] : part_of(counted, "aborts").items()) {
    causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", cause,
                          attempts == 0 ? "–" : percent(count.get<double>() / attempts));
  }
  return causes.empty() ? "none" : causes;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
