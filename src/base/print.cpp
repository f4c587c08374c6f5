// SPDX-License-Identifier: Apache-2.0
#include "base/print.hpp"

namespace txsync::base {

void print_formatted(std::FILE* out, fmt::string_view format, fmt::format_args values) {
  const std::string text = fmt::vformat(format, values);
  std::fwrite(text.data(), 1, text.size(), out);
}

std::string padded(std::string_view text, std::size_t width) {
  std::string made(text);
  if (made.size() < width) made.resize(width, ' ');
  return made;
}

}  // namespace txsync::base
