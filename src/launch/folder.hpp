// SPDX-License-Identifier: Apache-2.0
// What is in a folder, even if it disappears meanwhile, as folders of /proc do.
#pragma once

#include <filesystem>
#include <system_error>
#include <vector>

#include <sys/types.h>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// The paths in the folder. On an error: those found until then. A loop over a directory_iterator would throw if the
/// folder disappears between two of its steps.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::error_code& error);

/// The processes of the system, as /proc lists them.
std::vector<pid_t> all_processes();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
