// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/text.hpp"

#include <charconv>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include "base/words.hpp"
#include "workloads/generators/matrix_market.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

constexpr std::string_view no_file = "none";

std::optional<std::uint64_t> value_of(const parameter& key, std::string_view text) {
  if (key.names.empty()) return base::parse_number(text);
  for (std::size_t i = 0; i < key.names.size(); ++i) {
    if (text == key.names[i]) return i;
  }
  return std::nullopt;
}

std::string join(const auto& list, auto name_of) {
  std::string all;
  for (const auto& one : list) all += (all.empty() ? "" : ", ") + std::string(name_of(one));
  return all;
}

std::string assign_preset(const workload& which, std::string_view name, parameters& values) {
  const preset* const chosen = find_preset(which, name);
  if (chosen == nullptr) {
    return fmt::format("{} has no preset '{}'; it has {}", which.name, name,
                       join(which.presets, [](const preset& one) { return one.name; }));
  }
  values = preset_parameters(which, *chosen);
  return {};
}

std::string assign_file(std::string_view path, std::uint64_t& value) {
  try {
    value = path == no_file ? 0 : open_matrix(std::string(path));
  } catch (const matrix_error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

std::string assign(const workload& which, std::string_view assignment, parameters& values) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return fmt::format("'{}' is not a parameter of {}; write key=value or preset=name", assignment, which.name);
  }
  const std::string_view key = assignment.substr(0, equals);
  const std::string_view text = assignment.substr(equals + 1);
  if (key == "preset") return assign_preset(which, text, values);

  const int index = find_parameter(which, key);
  if (index < 0) {
    return fmt::format("{} has no parameter '{}'; it has preset, {}", which.name, key,
                       join(which.keys, [](const parameter& one) { return one.key; }));
  }
  const parameter& chosen = which.keys[static_cast<std::size_t>(index)];
  if (chosen.is_file) return assign_file(text, values.values[index]);
  const auto value = value_of(chosen, text);
  if (!value || *value < chosen.least || *value > chosen.greatest) {
    return fmt::format("{}: {} cannot be '{}'; allowed is {}", which.name, chosen.key, text, allowed_text(chosen));
  }
  values.values[index] = *value;
  return {};
}

std::string value_text(const parameter& key, std::uint64_t value) {
  if (key.is_file) return value == 0 ? std::string(no_file) : path_of_matrix(value);
  return value < key.names.size() ? key.names[value] : std::to_string(value);
}

std::string allowed_text(const parameter& key) {
  if (key.is_file) return "none|PATH";
  if (key.names.empty()) return fmt::format("{}..{}", key.least, key.greatest);
  std::string all;
  for (const char* const name : key.names) all += (all.empty() ? "" : "|") + std::string(name);
  return all;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
