// SPDX-License-Identifier: Apache-2.0
// What a captured program reads from its standard input: a file, from its beginning in each run, or nothing. If it is
// given nothing, it is known afterwards whether it has tried to read.
#pragma once

#include <optional>
#include <string>

#include "base/descriptor.hpp"
#include "launch/executable.hpp"  // cannot_start

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

class program_input {
 public:
  /// A regular file or /dev/null, opened anew; none: an empty file. Throws cannot_start with one line.
  explicit program_input(const std::optional<std::string>& path);

  /// For child_request::input; -1 if no empty file could be made.
  int file() const noexcept { return file_.get(); }

  /// Whether a process has read the empty file, even if only to find its end. False for a named file.
  bool was_read_in_vain() const noexcept;

 private:
  void make_empty();

  base::descriptor file_;
  base::descriptor empty_;  // the same file, with the right to change its times
};

/// What this process' standard input holds that no program will read: "a file", "a pipe". Null if it holds nothing, or
/// is a terminal.
const char* input_left_over() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
