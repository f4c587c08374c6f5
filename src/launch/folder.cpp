// SPDX-License-Identifier: Apache-2.0
#include "launch/folder.hpp"

#include <string>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> folders;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    folders.push_back(at->path());
  return folders;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> processes;
  std::error_code error;
  for (const fs::path& entry : entries_of("/proc", error)) {
    const std::string name = entry.filename();
    if (name.find_first_not_of("0123456789") == std::string::npos) processes.push_back(std::stoi(name));
  }
  return processes;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
