// SPDX-License-Identifier: Apache-2.0
#include "launch/started_programs.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>

#include "launch/executable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

namespace {

/// Root has all rights already, so for the dynamic linker such a program is like any other.
bool gives_root_nothing(const std::string& file) {
  struct stat about{};
  if (getuid() != 0 || stat(file.c_str(), &about) != 0) return false;
  const bool sets_user = (about.st_mode & S_ISUID) != 0;
  const bool sets_group = (about.st_mode & S_ISGID) != 0;
  if ((sets_user && about.st_uid != 0) || (sets_group && about.st_gid != getgid())) return false;
  return sets_user || sets_group || getxattr(file.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

void started_programs::read(channel::head& head) {
  using channel::started_program;
  for (started_program& slot : head.started) {
    // acquire pairs with the program's release: the path is complete
    if (slot.state.load(std::memory_order_acquire) != started_program::told) continue;
    const std::string path(slot.path, strnlen(slot.path, sizeof slot.path));
    slot.state.store(started_program::free, std::memory_order_release);  // pairs with the next one's acquire
    if (known_.insert(path).second) judge(path);
  }
}

/// A file that does not exist was not started: shells try one folder after the other.
void started_programs::judge(const std::string& path) {
  std::string file;
  try {
    file = find_program(path);
  } catch (const cannot_start&) {
    return;
  }
  if (gives_root_nothing(file)) return;
  try {
    check_takes_library(file, preloaded_);
  } catch (const cannot_start& reason) {
    without_library_.emplace_back(reason.what());
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
