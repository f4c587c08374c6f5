// SPDX-License-Identifier: Apache-2.0
#include "simulate/step_names.hpp"

#include <fmt/core.h>

#include "base/words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
using base::hexadecimal;
using sim::step_kind;

namespace {

std::string name_of_action(step_kind what) {
  switch (what) {
    case step_kind::asks:
      return "asks for the lock";
    case step_kind::takes:
      return "takes the lock";
    case step_kind::takes_shared:
      return "takes for reading the lock";
    case step_kind::gives_up:
      return "gives up the lock";
    case step_kind::awaits:
      return "waits for the condition";
    case step_kind::notifies:
      return "notifies one waiter of the condition";
    case step_kind::notifies_all:
      return "notifies all waiters of the condition";
    case step_kind::frees:
      return "frees the block";
    default:
      return sim::name_of(what);
  }
}

/// Of the C++ library's own functions between a thread's begin and the program: `_State_impl`, `_Head_base`.
bool is_reserved_name(const std::string& function) {
  const std::size_t at = function.starts_with("~") ? 1 : 0;
  return function.size() > at + 1 && function[at] == '_' && function[at + 1] >= 'A' && function[at + 1] <= 'Z';
}

/// The folder of this txsync's sources, as the image's compiler saw it. The library's sources are below it.
std::string library_folder(const symbols::module_symbols& symbols, const sim::image_result& seen) {
  const auto functions = symbols.around(seen.number(sim::number_record::library_code));
  if (functions.empty()) return "";
  const std::string& file = functions.back().file;
  const std::size_t end = file.rfind("sim/toolchain/library/");
  return end == std::string::npos ? "" : file.substr(0, end);
}

/// Small numbers as they are, negative ones with their sign; others are addresses or bits.
std::string value_text(std::uint64_t value, unsigned bytes) {
  constexpr std::int64_t small = 1'000'000;
  const unsigned unused_bits = 64 - 8 * bytes;
  const auto with_sign = static_cast<std::int64_t>(value << unused_bits) >> unused_bits;
  return -small < with_sign && with_sign < small ? std::to_string(with_sign) : hexadecimal(value);
}

/// " = 1" that is read, ": 1 -> 2" that is written.
std::string values_of(const sim::traced_step& step) {
  const sim::step_values& values = step.values;
  if (values.bytes == 0 || values.bytes > sizeof values.before) return "";
  const std::string after = value_text(values.after, values.bytes);
  if (step.what == step_kind::reads) return " = " + after;
  return fmt::format(": {} -> {}", value_text(values.before, values.bytes), after);
}

}  // namespace

bool is_access(const sim::trace_step& step) {
  return step.what == step_kind::reads || step.what == step_kind::writes || step.what == step_kind::buffers ||
         step.what == step_kind::drains;
}

bool is_lock_call(const sim::trace_step& step) {
  return step.what >= step_kind::asks && step.what <= step_kind::notifies_all;
}

step_names::step_names(const std::string& image, const sim::image_result& seen)
    : symbols_(image), source_(image), library_(library_folder(symbols_, seen)) {}

const std::string* step_names::library_function(std::uint64_t code) {
  const known_code& known = look_up(code);
  return known.function.empty() ? nullptr : &known.function;
}

bool step_names::is_own_code(std::uint64_t code) {
  const known_code& known = look_up(code);
  return known.function.empty() && !is_reserved_name(known.place.name);
}

std::string step_names::place(std::uint64_t code) {
  const symbols::code_place& at = look_up(code).place;
  if (at.name.empty()) return "";
  static const std::string none;
  // The text of the compiler's own headers says nothing about the program.
  const std::string& text = at.file.starts_with("/usr/") ? none : source_.line(at.file, at.line);
  if (!text.empty()) return fmt::format("  {}: {}", at.name, text);
  return at.library.empty() ? "  " + at.name : fmt::format("  {} in {}", at.name, at.library);
}

std::string step_names::action(const sim::traced_step& step) const {
  const std::string name = object(step);
  return name_of_action(step.what) + (name.empty() ? "" : " " + name);
}

std::string step_names::object(const sim::traced_step& step) const {
  if (step.address == 0) return "";
  const std::string name = symbols::data_name(symbols_, step.address);
  return (name.empty() ? hexadecimal(step.address) : name) + values_of(step);
}

const step_names::known_code& step_names::look_up(std::uint64_t code) {
  const auto [found, is_new] = codes_.try_emplace(code);
  known_code& known = found->second;
  if (!is_new || code == 0) return known;
  known.place = symbols::place_of(symbols_, code);
  const auto functions = symbols_.around(code);
  if (!functions.empty() && !library_.empty() && functions.back().file.starts_with(library_))
    known.function = functions.back().name;
  return known;
}

std::string step_names::short_place(std::uint64_t code) const { return "  " + symbols::place_name(symbols_, code); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
