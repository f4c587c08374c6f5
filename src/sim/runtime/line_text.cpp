// SPDX-License-Identifier: Apache-2.0
#include "line_text.hpp"

namespace txsync::sim {

line_text& line_text::operator<<(const char* text) noexcept {
  for (; *text != 0; ++text) put(*text);
  return *this;
}

line_text& line_text::operator<<(std::string_view text) noexcept {
  for (const char c : text) put(c);
  return *this;
}

line_text& line_text::operator<<(std::uint64_t number) noexcept {
  char digits[20];
  unsigned count = 0;
  do digits[count++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  while (count != 0) put(digits[--count]);
  return *this;
}

line_text& line_text::hexadecimal(std::uint64_t number) noexcept {
  *this << "0x";
  bool started = false;
  for (int shift = 60; shift >= 0; shift -= 4) {
    const unsigned digit = static_cast<unsigned>(number >> shift) & 15;
    started = started || digit != 0 || shift == 0;
    if (started) put("0123456789abcdef"[digit]);
  }
  return *this;
}

}  // namespace txsync::sim
