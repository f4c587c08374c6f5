// SPDX-License-Identifier: Apache-2.0
#include "observe/document/printable.hpp"

#include <cstddef>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

/// The number of bytes of the character at `at`; 0 for a control character or invalid UTF-8.
std::size_t length_of(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x20 || first == 0x7F) return 0;
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, at + i) & 0xC0) != 0x80) return 0;
  }
  return first == 0xC2 && byte_at(text, at + 1) < 0xA0 ? 0 : length;  // the control characters of ISO 8859
}

}  // namespace

std::string printable(std::string_view text) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_of(text, at);
    if (length != 0) {
      made += text.substr(at, length);
      at += length;
      continue;
    }
    made += fmt::format("\\x{:02x}", byte_at(text, at));
    ++at;
  }
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
