// SPDX-License-Identifier: Apache-2.0
#include "symbols/code_place.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "base/words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {

namespace {

std::string with_line(function_at function) {
  function.name = name_in_program(function.name);
  if (function.name == "user_main") function.name = "main";
  if (function.line == 0) return function.name;
  const std::size_t folder = function.file.rfind('/');
  const std::string file = folder == std::string::npos ? function.file : function.file.substr(folder + 1);
  return fmt::format("{} ({}:{})", function.name, file, function.line);
}

constexpr std::string_view code_word = "code";
constexpr std::string_view caller_follows = " < ";

/// The frames between the begin of a thread and the program say nothing about it.
bool is_frame_of_thread(const code_place& place) {
  return place.file.find("sim/toolchain/library/") != std::string::npos &&
         (place.name.starts_with("run (") || place.name.starts_with("run_state ("));
}

std::string text_of(const code_place& place) {
  return place.library.empty() ? place.name : place.name + " in " + place.library;
}

/// Replaces the word "code" at the end of a text.
void add_place(std::string& text, const code_place& place) {
  text.resize(text.size() - code_word.size());
  if (text.ends_with(caller_follows) && is_frame_of_thread(place)) {
    text.resize(text.size() - caller_follows.size());
    return;
  }
  // "at 3 cycles, PLACE, in PLACE": once is enough.
  const std::string name = text_of(place);
  const std::string before = ", " + name + ", in ";
  if (text.ends_with(before)) text.replace(text.size() - before.size(), before.size(), ", in ");
  text += name;
}

}  // namespace

std::string name_in_program(std::string_view name) {
  // By the recipe of simulated programs, and by its linker.
  for (const std::string_view renamed : {"__wrap_txsync_sim_", "txsync_sim_"}) {
    if (name.starts_with(renamed)) return std::string(name.substr(renamed.size()));
  }
  return std::string(name);
}

std::string data_name(const module_symbols& symbols, std::uint64_t address) {
  object_at object = symbols.member(address);
  if (object.name.empty()) return "";
  // For a static object in a template's function, which the place already names: only its own name.
  if (object.name.find('<') != std::string::npos) object.name.erase(0, object.name.rfind(':') + 1);
  static constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = object.name.find(unnamed, at)) != std::string::npos;)
    object.name.erase(at, unnamed.size());
  return object.offset == 0 ? object.name : fmt::format("{}+{}", object.name, object.offset);
}

code_place place_of(const module_symbols& symbols, std::uint64_t code) {
  if (code == 0) return {};
  const std::vector<function_at> functions = symbols.around(code);
  if (functions.empty()) return {base::hexadecimal(code), "", "", 0};
  const auto own = std::find_if(functions.begin(), functions.end(),
                                [](const function_at& one) { return !is_library_code(one.name); });
  const bool is_inlined = own != functions.begin() && own != functions.end();
  const function_at& meant = is_inlined ? *own : functions.front();
  return {with_line(meant), is_inlined ? functions.front().name : "", meant.file, meant.line};
}

std::string place_name(const module_symbols& symbols, std::uint64_t code) { return text_of(place_of(symbols, code)); }

std::string with_places(const module_symbols& symbols, const std::string& text) {
  static constexpr std::string_view mark = " at 0x";
  static constexpr std::string_view lock = "lock";
  static constexpr std::string_view data = "data";
  static constexpr std::string_view speaker = "txsync sim: ";
  std::string made;
  std::size_t done = text.starts_with(speaker) ? speaker.size() : 0;
  for (std::size_t at = text.find(mark, done); at != std::string::npos; at = text.find(mark, done)) {
    made += text.substr(done, at - done);
    std::size_t digits = 0;
    const std::uint64_t address = std::stoull(text.substr(at + mark.size() - 2), &digits, 16);
    done = at + mark.size() - 2 + digits;
    if (made.ends_with(code_word)) {
      add_place(made, place_of(symbols, address));
    } else if (const std::string name = made.ends_with(lock) ? data_name(symbols, address) : ""; !name.empty()) {
      made += " " + name;
    } else if (const std::string object = made.ends_with(data) ? data_name(symbols, address) : ""; !object.empty()) {
      made.replace(made.size() - data.size(), data.size(), object);
    } else {
      made += text.substr(at, done - at);
    }
  }
  return made + text.substr(done);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
