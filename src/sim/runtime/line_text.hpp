// SPDX-License-Identifier: Apache-2.0
// A line of text in a fixed buffer: no allocator, no locale. What does not fit is left out.
#pragma once

#include <cstdint>
#include <string_view>

namespace txsync::sim {

class line_text {
 public:
  line_text& operator<<(const char* text) noexcept;
  line_text& operator<<(std::string_view text) noexcept;
  line_text& operator<<(std::uint64_t number) noexcept;
  line_text& hexadecimal(std::uint64_t number) noexcept;
  const char* text() const noexcept { return buffer_; }
  unsigned size() const noexcept { return size_; }

 private:
  void put(char c) noexcept {
    if (size_ < sizeof buffer_ - 1) buffer_[size_++] = c;
  }
  char buffer_[4096] = {};
  unsigned size_ = 0;
};

}  // namespace txsync::sim
