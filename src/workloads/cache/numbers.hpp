// SPDX-License-Identifier: Apache-2.0
// Numbers in the form of values: what incr and decr can count.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache {

inline constexpr unsigned max_number_letters = 20;  ///< digits of 2^64-1

/// Whether C's isspace() is true for the letter in the "C" locale.
constexpr bool is_space(char letter) noexcept { return letter == ' ' || (letter >= '\t' && letter <= '\r'); }

/// Reads the digits of a number below 2^64 at the start of `text`. Returns how many they are; 0 if there is no number.
constexpr unsigned read_digits(const char* text, std::size_t bytes, std::uint64_t& number) noexcept {
  std::uint64_t seen = 0;
  std::size_t i = 0;
  for (; i < bytes && text[i] >= '0' && text[i] <= '9'; ++i) {
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    if (seen > (~std::uint64_t{0} - digit) / 10) return 0;
    seen = seen * 10 + digit;
  }
  number = seen;
  return static_cast<unsigned>(i);
}

/// A number as C's strtoll() accepts it: space, a sign, digits. After it comes nothing, or space and then anything.
struct signed_number {
  bool negative = false;
  std::uint64_t amount = 0;
};
constexpr bool read_signed(const char* text, std::size_t bytes, signed_number& number) noexcept {
  std::size_t start = 0;
  while (start < bytes && is_space(text[start])) ++start;
  number.negative = start < bytes && text[start] == '-';
  if (start < bytes && (text[start] == '+' || text[start] == '-')) ++start;
  const std::size_t digits = read_digits(text + start, bytes - start, number.amount);
  return digits != 0 && (start + digits == bytes || is_space(text[start + digits]));
}

/// The same for numbers that are not negative.
constexpr bool read_number(const char* text, std::size_t bytes, std::uint64_t& number) noexcept {
  signed_number seen;
  if (!read_signed(text, bytes, seen) || (seen.negative && seen.amount != 0)) return false;
  number = seen.amount;
  return true;
}

/// Writes the digits; returns how many they are.
constexpr unsigned write_number(std::uint64_t number, char (&into)[max_number_letters]) noexcept {
  char backwards[max_number_letters] = {};
  unsigned digits = 0;
  do {
    backwards[digits++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  for (unsigned i = 0; i < digits; ++i) into[i] = backwards[digits - 1 - i];
  return digits;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache
