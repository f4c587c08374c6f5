// SPDX-License-Identifier: Apache-2.0
#include "symbols/code_place.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "base/words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {

namespace {

std::string with_line(function_at function) {
  constexpr std::string_view renamed = "txsync_sim_";  // by the recipe of simulated programs
  if (function.name.starts_with(renamed)) function.name.erase(0, renamed.size());
  if (function.name == "user_main") function.name = "main";
  if (function.line == 0) return function.name;
  const std::size_t folder = function.file.rfind('/');
  const std::string file = folder == std::string::npos ? function.file : function.file.substr(folder + 1);
  return fmt::format("{} ({}:{})", function.name, file, function.line);
}

}  // namespace

std::string place_name(const module_symbols& symbols, std::uint64_t code) {
  if (code == 0) return "";
  const std::vector<function_at> functions = symbols.around(code);
  if (functions.empty()) return base::hexadecimal(code);
  const auto own = std::find_if(functions.begin(), functions.end(),
                                [](const function_at& one) { return !is_library_code(one.name); });
  if (own == functions.begin() || own == functions.end()) return with_line(functions.front());
  return with_line(*own) + " in " + functions.front().name;
}

std::string with_places(const module_symbols& symbols, const std::string& text) {
  static constexpr std::string_view mark = "code at 0x";
  static constexpr std::string_view speaker = "txsync sim: ";
  std::string made;
  std::size_t done = text.starts_with(speaker) ? speaker.size() : 0;
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, done)) {
    made += text.substr(done, at - done);
    std::size_t digits = 0;
    const std::uint64_t code = std::stoull(text.substr(at + mark.size() - 2), &digits, 16);
    made += place_name(symbols, code);
    done = at + mark.size() - 2 + digits;
  }
  return made + text.substr(done);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
