// SPDX-License-Identifier: Apache-2.0
// The message about an environment variable with an unknown value.
#pragma once

#include <cstddef>
#include <string_view>

#include <txsync/machine/environment.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// One line for the standard error: "txsync: NAME: unknown WHAT 'VALUE'; allowed: A, B; CONSEQUENCE". Allocates
/// nothing, because the locks of an allocator may call it. It stays one line for any value; a long value is cut.
class unknown_setting {
 public:
  unknown_setting(std::string_view name, std::string_view what, std::string_view value) noexcept {
    add("txsync: ");
    add(name);
    add(": unknown ");
    add(what);
    add(" '");
    for (const char one : value.substr(0, max_value_letters)) add({one < ' ' || one > '~' ? "?" : &one, 1});
    add(value.size() > max_value_letters ? "...'" : "'");
  }

  void allow(std::string_view one) noexcept {
    add(any_ ? ", " : "; allowed: ");
    add(one);
    any_ = true;
  }

  /// Writes the line with the consequence.
  void report(std::string_view consequence) noexcept {
    add("; ");
    add(consequence);
    text_[length_++] = '\n';
    complain(text_, length_);
  }

 private:
  static constexpr std::size_t max_value_letters = 64;

  void add(std::string_view part) noexcept {
    for (const char one : part.substr(0, sizeof text_ - 1 - length_)) text_[length_++] = one;  // 1: the line's end
  }

  char text_[512];
  std::size_t length_ = 0;
  bool any_ = false;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
