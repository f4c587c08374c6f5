// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

#include <fmt/core.h>

#include "base/bad_input.hpp"

namespace txsync::base {
namespace {

char lower(char letter) { return static_cast<char>(std::tolower(static_cast<unsigned char>(letter))); }

/// How many letters must be inserted, removed, replaced or swapped with their neighbour to turn one word into the other
/// (optimal string alignment). Case is ignored.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

/// "mutex" for "txsync::mutex": users leave the qualifier out.
std::string_view without_qualifier(std::string_view word) {
  const std::size_t at = word.rfind("::");
  return at == std::string_view::npos ? word : word.substr(at + 2);
}

struct named_factor {
  std::string_view ending;
  std::uint64_t factor;
};
constexpr named_factor factors[] = {{"K", 1'000},
                                    {"M", 1'000'000},
                                    {"G", 1'000'000'000},
                                    {"Ki", std::uint64_t{1} << 10},
                                    {"Mi", std::uint64_t{1} << 20},
                                    {"Gi", std::uint64_t{1} << 30}};

/// The factor that the ending of a number means; nothing for an unknown ending.
std::optional<std::uint64_t> factor_of(std::string_view ending) {
  if (ending.empty()) return 1;
  for (const named_factor& one : factors) {
    if (ending == one.ending) return one.factor;
  }
  return std::nullopt;
}

}  // namespace

words split(std::string_view text, char separator) {
  words parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string join(const words& list) {
  std::string joined;
  for (const std::string& word : list) joined += (joined.empty() ? "" : ", ") + word;
  return joined;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [rest, error] = std::from_chars(begin, end, number);
  if (error != std::errc{}) return std::nullopt;
  const auto factor = factor_of(std::string_view(rest, static_cast<std::size_t>(end - rest)));
  if (!factor || number > std::numeric_limits<std::uint64_t>::max() / *factor) return std::nullopt;
  return number * *factor;
}

bool parse_number(std::string_view text, std::uint64_t greatest, std::uint64_t& value) {
  const std::optional<std::uint64_t> parsed = parse_number(text);
  if (!parsed || *parsed > greatest) return false;
  value = *parsed;
  return true;
}

std::string number_endings() {
  words all;
  for (const named_factor& one : factors) all.emplace_back(one.ending);
  return join(all);
}

std::uint64_t number_of(const char* option, const std::optional<std::string>& text, std::uint64_t least,
                        std::uint64_t greatest, std::uint64_t fallback) {
  if (!text) return fallback;
  std::uint64_t value = 0;
  if (parse_number(*text, greatest, value) && value >= least) return value;
  throw bad_input(fmt::format("{}: '{}' is not a number from {} to {}, which may end in {}", option, *text, least,
                              greatest, number_endings()));
}

std::string hexadecimal(std::uint64_t number) { return fmt::format("{:#x}", number); }

std::string nearest(std::string_view wrong, const words& allowed) {
  if (wrong.empty()) return {};
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(1, wrong.size() / 3) + 1;  // a greater distance means another word
  for (const std::string& word : allowed) {
    const std::size_t here = std::min(distance(wrong, word), distance(wrong, without_qualifier(word)));
    if (here < least) {
      least = here;
      best = &word;
    }
  }
  return best == nullptr ? std::string() : *best;
}

std::string command_line(const words& list) {
  std::string line;
  for (const std::string& word : list) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
    line += line.empty() ? "" : " ";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char letter : word) line += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    line += '\'';
  }
  return line;
}

std::string unknown(std::string_view what, std::string_view wrong, const words& allowed) {
  std::string line = fmt::format("unknown {} '{}'; allowed: {}", what, wrong, join(allowed));
  if (const std::string meant = nearest(wrong, allowed); !meant.empty())
    line += fmt::format(" (did you mean '{}'?)", meant);
  return line;
}

}  // namespace txsync::base
