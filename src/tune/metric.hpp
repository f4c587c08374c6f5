// SPDX-License-Identifier: Apache-2.0
// A number that a program prints about itself.
#pragma once

#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>

#include "observe/statistics.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

/// Says what is wrong with a regular expression, in one line.
struct metric_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A regular expression (ECMAScript) with one capture group, which is a number. It is searched line by line, in the
/// first 4096 bytes of each line. The last match in the output counts, since programs print their final result last.
class metric {
 public:
  /// Throws metric_error if it is no regular expression, or does not have exactly one group.
  explicit metric(std::string regex);

  const std::string& text() const noexcept { return text_; }

  /// The number, or why there is none, with the last lines of the output.
  struct found {
    double value = 0;
    std::string failure;  ///< empty when there is a value
  };
  found in(std::string_view output) const;

 private:
  std::string text_;
  std::regex regex_;
};

/// The last lines of a program's output in one line, for messages: "...; 'one' / 'two'".
std::string last_lines(std::string_view output, unsigned count = 3);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
