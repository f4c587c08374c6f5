// SPDX-License-Identifier: Apache-2.0
// Lines of a program's source, for people who look at places in its code.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {

class source_text {
 public:
  static constexpr std::size_t max_width = 100;  ///< characters of a line

  /// `program` is the file that was compiled from the sources. A source that changed after it is not shown.
  explicit source_text(std::filesystem::path program);

  /// The line without the blanks around it, and cut to max_width. Empty if the file cannot be read, has changed, or has
  /// no such line. `file` is the compiler's path: a relative one is looked for in this folder and in the program's.
  const std::string& line(const std::string& file, unsigned number);

 private:
  std::vector<std::string> read(const std::string& file) const;

  std::filesystem::path program_;
  std::unordered_map<std::string, std::vector<std::string>> files_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
