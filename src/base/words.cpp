// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>

#include "workloads/generators/text.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
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

bool parse_number(std::string_view text, std::uint64_t greatest, std::uint64_t& value) {
  const std::optional<std::uint64_t> parsed = workloads::parse_number(text);
  if (!parsed || *parsed > greatest) return false;
  value = *parsed;
  return true;
}

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
  std::string line = "unknown " + std::string(what) + " '" + std::string(wrong) + "'; allowed: " + join(allowed);
  if (const std::string meant = nearest(wrong, allowed); !meant.empty()) line += " (did you mean '" + meant + "'?)";
  return line;
}

}  // namespace txsync::inline TXSYNC_BACKEND::cli
