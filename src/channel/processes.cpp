// SPDX-License-Identifier: Apache-2.0
#include "channel/processes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

std::uint32_t launchers_number(const head& file) noexcept {
  struct stat about{};
  const int saved_errno = errno;
  const bool same = stat("/proc/self/ns/pid", &about) == 0 && about.st_ino == file.processes_of;
  errno = saved_errno;
  return same ? static_cast<std::uint32_t>(getpid()) : 0;
}

bool has_ended(std::uint32_t process) noexcept {
  const int saved_errno = errno;
  const bool ended = kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
  errno = saved_errno;
  return ended;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel
