// SPDX-License-Identifier: Apache-2.0
// A short name in two numbers, for counters and records, which hold only numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// Longer names are cut.
inline constexpr std::size_t max_name_in_words = 16;

constexpr void put_name(std::string_view name, std::uint64_t (&words)[2]) noexcept {
  words[0] = words[1] = 0;
  for (std::size_t i = 0; i < name.size() && i < max_name_in_words; ++i)
    words[i / 8] |= std::uint64_t{static_cast<unsigned char>(name[i])} << i % 8 * 8;
}

inline std::string name_in(const std::uint64_t (&words)[2]) {
  std::string name;
  for (std::size_t i = 0; i < max_name_in_words; ++i) {
    const char next = static_cast<char>(words[i / 8] >> i % 8 * 8 & 0xFF);
    if (next == 0) break;
    name += next;
  }
  return name;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
