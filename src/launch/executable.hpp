// SPDX-License-Identifier: Apache-2.0
// Which file a command starts, and whether that can be started under the preloaded library.
#pragma once

#include <stdexcept>
#include <string>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// The program cannot be started. One line. `status` is what a shell would exit with: 127 if the file does not exist,
/// 126 if it cannot be run.
struct cannot_start : std::runtime_error {
  cannot_start(int status_of_shell, const std::string& what) : std::runtime_error(what), status(status_of_shell) {}
  int status;
};

/// The path of the file that `command` means: the command itself if it has a slash, else found along PATH. Throws
/// cannot_start.
std::string find_program(const std::string& command);

/// Ensures that the dynamic linker will load the preloaded library into the program. It follows the interpreters of
/// scripts. It refuses static, set-user-ID, set-group-ID and file-capability programs, and those for other processors
/// or other C libraries. It refuses a program with a sanitizer whose library is not in `preloaded`, the LD_PRELOAD
/// before ours. Throws cannot_start.
void check_takes_library(const std::string& path, const std::string& preloaded = {});

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
