// SPDX-License-Identifier: Apache-2.0
// Which file a command starts, and whether it can be started under the preloaded library.
#pragma once

#include <stdexcept>
#include <string>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::launch {

/// The program cannot be started. One line; `status` is what a shell would exit with: 127 when it is not there, 126
/// when it cannot be run.
struct cannot_start : std::runtime_error {
  cannot_start(int status_of_shell, const std::string& what) : std::runtime_error(what), status(status_of_shell) {}
  int status;
};

/// The path of the file that `command` means: itself where it has a slash, else looked for along PATH.
/// Throws cannot_start.
std::string find_program(const std::string& command);

/// Makes sure that the dynamic linker will take the preloaded library into the program: through the interpreters of
/// scripts, refuses static, set-user-ID, set-group-ID and file-capability programs, those for other processors and
/// those of other C libraries. Refuses programs with a sanitizer whose library is not in `preloaded`, the LD_PRELOAD
/// that comes before ours. Throws cannot_start.
void check_takes_library(const std::string& path, const std::string& preloaded = {});

}  // namespace txsync::inline TXSYNC_BACKEND::launch
