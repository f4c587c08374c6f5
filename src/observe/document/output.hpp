// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// Says which file and why, in one line without a full stop.
struct output_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where a document will be written; checked before a long run starts. A regular file appears complete or not at all:
/// the text goes to a new file beside it, which is then renamed. Other files (a device, a pipe) are written directly.
/// Not thread-safe.
class output {
 public:
  /// Opens what write() will need. "-" is the standard output. Throws output_error if the file cannot be written; then
  /// nothing was created or changed.
  explicit output(std::string path);
  output(const output&) = delete;
  output& operator=(const output&) = delete;
  /// If write() was not called, leaves the file as it was.
  ~output();

  bool is_standard_output() const noexcept { return path_ == "-"; }

  /// Writes the document, indented, with a line feed at its end. At most once. Throws output_error; then the file is
  /// unchanged.
  void write(const document& all);
  /// The same for any text: a page, a policy file.
  void write(const std::string& text);

 private:
  std::string path_;       // as the user wrote it
  std::string target_;     // with symbolic links followed
  std::string temporary_;  // the new file beside the target; empty if the target is written directly
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
