// SPDX-License-Identifier: Apache-2.0
#include "launch/program_input.hpp"
#include "base/descriptor.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

constexpr int not_readable = 126;  // as in a shell for what it cannot run
constexpr timespec long_ago{1, 0};

/// Never one of the three standard descriptors: this process may have been started without them.
base::descriptor opened(const char* path) {
  const base::descriptor low(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe could wait for its writer
  return base::descriptor(low.get() < 0 ? -1 : fcntl(low.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// Each run reads from the beginning.
bool is_for_many(const struct stat& about) {
  return S_ISREG(about.st_mode) || (S_ISCHR(about.st_mode) && about.st_rdev == makedev(1, 3));
}

}  // namespace

program_input::program_input(const std::optional<std::string>& path) {
  if (!path) {
    make_empty();
    return;
  }
  file_ = opened(path->c_str());
  struct stat about{};
  if (file_.get() < 0 || fstat(file_.get(), &about) != 0)
    throw cannot_start(not_readable, *path + " cannot be read: " + std::strerror(errno));
  if (!is_for_many(about))
    throw cannot_start(not_readable, *path +
                                         " is not a regular file, but each run reads its input from the beginning; "
                                         "allowed: a regular file, or /dev/null");
  fcntl(file_.get(), F_SETFL, 0);
}

/// A file of the memory's own file system. It notes the time of each access, including one that only finds the end.
void program_input::make_empty() {
  empty_ = base::descriptor(memfd_create("txsync-empty-input", MFD_CLOEXEC));
  const timespec times[2] = {long_ago, long_ago};
  if (empty_.get() >= 0 && futimens(empty_.get(), times) == 0)
    file_ = opened(fmt::format("/proc/self/fd/{}", empty_.get()).c_str());
}

bool program_input::was_read_in_vain() const noexcept {
  struct stat about{};
  return file_.get() >= 0 && empty_.get() >= 0 && fstat(empty_.get(), &about) == 0 &&
         about.st_atim.tv_sec != long_ago.tv_sec;
}

const char* input_left_over() noexcept {
  struct stat about{};
  if (fstat(STDIN_FILENO, &about) != 0) return nullptr;
  if (S_ISREG(about.st_mode)) return about.st_size > lseek(STDIN_FILENO, 0, SEEK_CUR) ? "a file" : nullptr;
  int bytes = 0;
  const bool flows = S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode);
  return flows && ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes > 0 ? "a pipe" : nullptr;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
