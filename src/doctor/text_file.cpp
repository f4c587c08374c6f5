// SPDX-License-Identifier: Apache-2.0
#include "text_file.hpp"

#include <charconv>

#include <txsync/machine/file.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::doctor {

namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Removes a decimal number from the front of the text and returns it.
std::optional<unsigned> take_number(std::string_view& text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

std::string text_of(const std::string& path) {
  // Enough for all that is read here. Of /proc/cpuinfo, the first processors suffice.
  std::string buffer(16384, '\0');
  const machine::file_result length = machine::read_text(path.c_str(), buffer.data(), buffer.size());
  if (!length.ok()) return {};
  buffer.resize(static_cast<std::size_t>(length.value));
  return std::string(trimmed(buffer));
}

std::optional<unsigned> number_of(const std::string& path) {
  const std::string text = text_of(path);
  std::string_view rest = text;
  const std::optional<unsigned> value = take_number(rest);
  return rest.empty() ? value : std::nullopt;
}

std::vector<unsigned> cpu_list(std::string_view text) {
  constexpr unsigned most = 1u << 16;  // so that a broken list cannot fill the memory
  std::vector<unsigned> cpus;
  while (!text.empty()) {
    const std::optional<unsigned> first = take_number(text);
    if (!first) break;
    std::optional<unsigned> last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text);
      if (!last || *last < *first || *last - *first > most) break;
    }
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    if (!text.starts_with(',')) break;
    text.remove_prefix(1);
  }
  return cpus;
}

std::string cpuinfo_value(std::string_view cpuinfo, std::string_view key) {
  while (!cpuinfo.empty()) {
    const std::string_view line = cpuinfo.substr(0, cpuinfo.find('\n'));
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key) {
      return std::string(trimmed(line.substr(colon + 1)));
    }
    cpuinfo.remove_prefix(line.size() == cpuinfo.size() ? line.size() : line.size() + 1);
  }
  return {};
}

std::string command_line_value(std::string_view line, std::string_view key) {
  std::string value;
  while (true) {
    const std::size_t start = line.find_first_not_of(blanks);
    if (start == std::string_view::npos) return value;
    line.remove_prefix(start);
    const std::string_view word = line.substr(0, line.find_first_of(blanks));
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=') {
      value = word.substr(key.size() + 1);
    }
    line.remove_prefix(word.size());
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::doctor
