// SPDX-License-Identifier: Apache-2.0
// The seam: files, with only the functions that logs, pages, policies and system descriptions need. The scripted back
// end keeps files in memory. It can fail each call, lose unsynced data and tear writes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

enum class open_mode : std::uint8_t {
  read,        ///< must exist
  read_write,  ///< must exist
  create,      ///< created if missing; read and write
  create_new   ///< must not exist; created; read and write
};

/// The result of a file call: a count or offset >= 0, or -(the system's errno).
struct file_result {
  std::int64_t value = 0;
  constexpr bool ok() const noexcept { return value >= 0; }
  constexpr int error() const noexcept { return value < 0 ? static_cast<int>(-value) : 0; }
};

/// An open file. Not copyable; closed at the end of its life. Only one thread at a time may use it, except for
/// read_at() and write_at().
class TXSYNC_EXPORT file {
 public:
  file() noexcept = default;
  file(file&& other) noexcept : handle_(other.handle_) { other.handle_ = -1; }
  file& operator=(file&& other) noexcept;
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file();

  /// Opens `path`. A file that `result` held before is closed. If the call creates a name, that name is on stable
  /// storage when the call returns ok. Programs that this one starts do not inherit the handle.
  [[nodiscard]] static file_result open(file& result, const char* path, open_mode mode) noexcept;
  bool is_open() const noexcept { return handle_ >= 0; }

  /// Reads up to `bytes` at `offset`; fewer only at the end of the file. Interrupted reads are continued.
  [[nodiscard]] file_result read_at(void* data, std::size_t bytes, std::uint64_t offset) const noexcept;
  /// Writes all of it or fails; after a failure any prefix may have been written.
  [[nodiscard]] file_result write_at(const void* data, std::size_t bytes, std::uint64_t offset) noexcept;
  /// Data and size are on stable storage when this returns ok. After an error, nothing that was written since the last
  /// ok is certain. A later ok does not change that: write the data again (Linux forgets the pages that failed).
  [[nodiscard]] file_result sync() noexcept;
  [[nodiscard]] file_result size() const noexcept;
  [[nodiscard]] file_result truncate(std::uint64_t bytes) noexcept;
  /// Closes; the destructor does the same and drops the error.
  [[nodiscard]] file_result close() noexcept;

 private:
  int handle_ = -1;
};

/// Replaces `to` by `from` in one step (rename), and syncs the directory.
[[nodiscard]] TXSYNC_EXPORT file_result rename_file(const char* from, const char* to) noexcept;
/// Removes a file's name. It does not sync: a crash may bring the name back.
[[nodiscard]] TXSYNC_EXPORT file_result remove_file(const char* path) noexcept;
/// Creates one directory, and puts its name on stable storage. ok also if the directory exists already.
[[nodiscard]] TXSYNC_EXPORT file_result make_directory(const char* path) noexcept;

/// Reads a small text file as a whole into `buffer`, zero-terminated. For files of /proc and /sys, whose size is not
/// known beforehand. Returns the length without the zero; a longer file is cut.
[[nodiscard]] TXSYNC_EXPORT file_result read_text(const char* path, char* buffer, std::size_t capacity) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
