// SPDX-License-Identifier: Apache-2.0
#include <txsync/machine/assert.hpp>

#include <cstddef>

#include "failed_assertion.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

namespace {

/// Allocates nothing, because the locks of an allocator may have the assertion. What does not fit is cut off.
class line_of_text {
 public:
  line_of_text& operator<<(const char* part) noexcept {
    while (*part != '\0' && length_ < sizeof text_ - 2) text_[length_++] = *part++;
    return *this;
  }
  line_of_text& operator<<(unsigned number) noexcept {
    char digits[12];
    char* at = digits + sizeof digits;
    *--at = '\0';
    do *--at = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return *this << at;
  }
  /// The text as a line, with its end.
  const char* end() noexcept {
    text_[length_++] = '\n';
    text_[length_] = '\0';
    return text_;
  }
  std::size_t length() const noexcept { return length_; }

 private:
  char text_[512];
  std::size_t length_ = 0;
};

}  // namespace

void assertion_failed(const char* file, int line, const char* function, const char* sentence) noexcept {
  line_of_text said;
  said << "txsync: " << file << ":" << static_cast<unsigned>(line) << ": " << function
       << "(): this does not hold: " << sentence;
  const char* const text = said.end();
  end_with(text, said.length());
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
