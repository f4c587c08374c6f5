// SPDX-License-Identifier: Apache-2.0
#include "sim/models/plain_text.hpp"

#include <charconv>

#include <fmt/core.h>

#include "sim/models/field.hpp"

namespace txsync::sim {

std::string to_plain_text(const machine_model& model) {
  std::string text;
  for (const field& one : fields()) text += fmt::format("{} {}\n", one.name(), model.*one.member);
  return text;
}

bool read_plain_text(std::string_view text, machine_model& into) {
  machine_model made;
  for (const field& one : fields()) {
    const std::string begin = one.name() + " ";
    if (!text.starts_with(begin)) return false;
    text.remove_prefix(begin.size());
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value < one.least || value > one.most) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with('\n')) return false;
    text.remove_prefix(1);
    made.*one.member = value;
  }
  if (!text.empty()) return false;
  into = made;
  return true;
}

}  // namespace txsync::sim
