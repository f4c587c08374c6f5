// SPDX-License-Identifier: Apache-2.0
// Subjects by a table of presets (policy/presets.hpp): each row with each lock that it names.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "policy/presets.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// A preset with a lock.
struct combination {
  unsigned row;
  unsigned lock;  ///< a bit of policy::subject_locks
};

template <const auto& presets>
constexpr std::size_t count_combinations() noexcept {
  std::size_t count = 0;
  for (const auto& one : presets) count += static_cast<std::size_t>(std::popcount(one.over));
  return count;
}
template <const auto& presets>
inline constexpr auto combinations = [] {
  std::array<combination, count_combinations<presets>()> all{};
  std::size_t next = 0;
  for (unsigned row = 0; row < std::size(presets); ++row) {
    for (unsigned bit = 0; bit < std::size(policy::subject_lock_names); ++bit) {
      if ((presets[row].over >> bit & 1) != 0) all[next++] = {row, 1u << bit};
    }
  }
  return all;
}();

constexpr std::string_view name_of_lock(unsigned lock) noexcept {
  return policy::subject_lock_names[std::countr_zero(lock)];
}

/// Joins three texts into one that ends with a zero.
using text = std::array<char, 96>;
constexpr text joined(std::string_view first, std::string_view second, std::string_view third) noexcept {
  text made{};
  char* at = made.data();
  for (const std::string_view part : {first, second, third}) {
    for (const char letter : part) *at++ = letter;
  }
  return made;
}

/// "tatas, elided ...", "tatas, whose waiters run ahead ...".
constexpr std::string_view before_summary(const policy::elision_preset&) noexcept { return ", "; }
constexpr std::string_view before_summary(const policy::warm_up_preset&) noexcept { return ", whose "; }

template <const auto& presets, unsigned row, unsigned lock>
inline constexpr text subject_name = joined(presets[row].subject, "_", name_of_lock(lock));
template <const auto& presets, unsigned row, unsigned lock>
inline constexpr text subject_summary = joined(name_of_lock(lock), before_summary(presets[row]), presets[row].summary);

/// The results of `make.operator()<row, lock>(name, summary)` for all combinations, followed by `others`.
template <const auto& presets, class Make, class... Others>
constexpr auto subjects_by(const Make& make, const Others&... others) noexcept {
  return [&]<std::size_t... which>(std::index_sequence<which...>) {
    constexpr auto& all = combinations<presets>;
    return std::array {
      make.template operator()<all[which].row, all[which].lock>(
          subject_name<presets, all[which].row, all[which].lock>.data(),
          subject_summary<presets, all[which].row, all[which].lock>.data())...,
      others...
    };
  }(std::make_index_sequence<combinations<presets>.size()>());
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
