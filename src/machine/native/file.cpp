// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <txsync/machine/file.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {

constexpr mode_t file_mode = 0666;  // before the umask
constexpr mode_t directory_mode = 0777;

file_result done(std::int64_t value = 0) noexcept { return {value}; }
file_result failed(int error) noexcept { return {-static_cast<std::int64_t>(error)}; }

/// Repeats a system call as long as signals interrupt it.
template <class Call>
auto uninterrupted(Call call) noexcept {
  decltype(call()) answer;
  do answer = call();
  while (answer < 0 && errno == EINTR);
  return answer;
}

int open_handle(const char* path, int flags) noexcept {
  return uninterrupted([&] { return ::open(path, flags | O_CLOEXEC, file_mode); });
}

/// Makes the names in the directory that contains `path` durable.
file_result sync_directory_of(const char* path) noexcept {
  char directory[PATH_MAX];
  const char* const slash = std::strrchr(path, '/');
  const std::size_t length = slash == nullptr ? 0 : static_cast<std::size_t>(slash - path);
  if (length >= sizeof directory) return failed(ENAMETOOLONG);
  std::memcpy(directory, path, length);
  std::strcpy(directory + length, slash == nullptr ? "." : slash == path ? "/" : "");
  const int handle = open_handle(directory, O_RDONLY | O_DIRECTORY);
  if (handle < 0) return failed(errno);
  const int answer = uninterrupted([&] { return fsync(handle); });
  const int error = errno;
  ::close(handle);
  // Some file systems cannot sync a directory and report EINVAL. Their names need no sync.
  return answer == 0 || error == EINVAL ? done() : failed(error);
}

/// Opens a file or creates it, and says whether it was created.
int open_or_make(const char* path, bool& made) noexcept {
  for (;;) {
    made = false;
    int handle = open_handle(path, O_RDWR);
    if (handle >= 0 || errno != ENOENT) return handle;
    made = true;
    handle = open_handle(path, O_RDWR | O_CREAT | O_EXCL);
    if (handle >= 0 || errno != EEXIST) return handle;  // else somebody created it in between
    struct stat unused;
    if (lstat(path, &unused) == 0 && S_ISLNK(unused.st_mode)) {  // a dangling link: both ways would fail for ever
      errno = ENOENT;
      return -1;
    }
  }
}

}  // namespace

file& file::operator=(file&& other) noexcept {
  if (this != &other) {
    if (is_open()) (void)close();
    handle_ = other.handle_;
    other.handle_ = -1;
  }
  return *this;
}

file::~file() {
  if (is_open()) (void)close();
}

file_result file::open(file& result, const char* path, open_mode mode) noexcept {
  if (result.is_open()) (void)result.close();
  bool made = mode == open_mode::create_new;
  int handle = -1;
  switch (mode) {
    case open_mode::read:
      handle = open_handle(path, O_RDONLY);
      break;
    case open_mode::read_write:
      handle = open_handle(path, O_RDWR);
      break;
    case open_mode::create:
      handle = open_or_make(path, made);
      break;
    case open_mode::create_new:
      handle = open_handle(path, O_RDWR | O_CREAT | O_EXCL);
      break;
  }
  if (handle < 0) return failed(errno);
  result.handle_ = handle;
  if (!made) return done();
  const file_result named = sync_directory_of(path);
  if (!named.ok()) (void)result.close();
  return named;
}

file_result file::read_at(void* data, std::size_t bytes, std::uint64_t offset) const noexcept {
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t part = uninterrupted(
        [&] { return pread(handle_, static_cast<char*>(data) + got, bytes - got, static_cast<off_t>(offset + got)); });
    if (part < 0) return failed(errno);
    if (part == 0) break;  // the end of the file
    got += static_cast<std::size_t>(part);
  }
  return done(static_cast<std::int64_t>(got));
}

file_result file::write_at(const void* data, std::size_t bytes, std::uint64_t offset) noexcept {
  std::size_t put = 0;
  while (put < bytes) {
    const ssize_t part = uninterrupted([&] {
      return pwrite(handle_, static_cast<const char*>(data) + put, bytes - put, static_cast<off_t>(offset + put));
    });
    if (part < 0) return failed(errno);
    if (part == 0) return failed(ENOSPC);  // nothing was written and no reason given: do not try for ever
    put += static_cast<std::size_t>(part);
  }
  return done(static_cast<std::int64_t>(put));
}

file_result file::sync() noexcept {
  // fdatasync does not write the times, but it does write the size.
  return uninterrupted([&] { return fdatasync(handle_); }) == 0 ? done() : failed(errno);
}

file_result file::size() const noexcept {
  struct stat about;
  return fstat(handle_, &about) == 0 ? done(about.st_size) : failed(errno);
}

file_result file::truncate(std::uint64_t bytes) noexcept {
  return uninterrupted([&] { return ftruncate(handle_, static_cast<off_t>(bytes)); }) == 0 ? done() : failed(errno);
}

file_result file::close() noexcept {
  const int handle = handle_;
  if (handle < 0) return failed(EBADF);
  handle_ = -1;
  // Linux has closed the handle even if it returns EINTR. A second close could hit another thread's new file.
  return ::close(handle) == 0 || errno == EINTR ? done() : failed(errno);
}

file_result rename_file(const char* from, const char* to) noexcept {
  return ::rename(from, to) == 0 ? sync_directory_of(to) : failed(errno);
}

file_result remove_file(const char* path) noexcept { return ::unlink(path) == 0 ? done() : failed(errno); }

file_result make_directory(const char* path) noexcept {
  if (::mkdir(path, directory_mode) == 0) return sync_directory_of(path);
  const int error = errno;
  struct stat about;
  const bool there = error == EEXIST && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
  return there ? done() : failed(error);
}

file_result read_text(const char* path, char* buffer, std::size_t capacity) noexcept {
  if (capacity == 0) return failed(EINVAL);
  buffer[0] = '\0';
  const int handle = open_handle(path, O_RDONLY);
  if (handle < 0) return failed(errno);
  std::size_t got = 0;
  int error = 0;
  while (got < capacity - 1) {
    const ssize_t part = uninterrupted([&] { return ::read(handle, buffer + got, capacity - 1 - got); });
    if (part <= 0) {
      error = part < 0 ? errno : 0;
      break;
    }
    got += static_cast<std::size_t>(part);
  }
  ::close(handle);
  buffer[got] = '\0';
  return error == 0 ? done(static_cast<std::int64_t>(got)) : failed(error);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
