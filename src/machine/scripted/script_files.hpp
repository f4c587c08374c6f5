// SPDX-License-Identifier: Apache-2.0
// The scripted machine's files: in memory, with faults and crashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::script {

enum class file_call : std::uint8_t {
  open,
  read,
  write,
  sync,
  size,
  truncate,
  close,
  rename,
  remove,
  make_directory,
  read_text,
  any  ///< any of these calls
};

/// What a crash leaves of writes that no sync() has confirmed.
enum class unsynced : std::uint8_t {
  lost,  ///< nothing
  kept,  ///< everything
  /// By chance, for each write: nothing, some whole sectors of 512 bytes from its start, or all of it.
  torn
};

/// Paths are used as given, without "." and ".." parts. A directory must exist before a file is opened in it. "/" and
/// "" (the current directory) always exist.
class file_system {
 public:
  /// Creates a file and its directories, durable at once.
  void put(const std::string& path, const std::string& content);
  /// What a reader would see now; nothing if there is no such file.
  std::optional<std::string> content(const std::string& path) const;
  /// What a crash with unsynced::lost would leave; nothing if the file would be gone.
  std::optional<std::string> durable_content(const std::string& path) const;
  bool is_directory(const std::string& path) const;

  /// The nth call of that kind from now (1 is the next) returns -error and does nothing. A sync() that fails also drops
  /// what was written since the last sync(). Readers see that data until the crash, but no later sync() writes it.
  void fail(file_call call, unsigned nth, int error);
  /// The nth write from now stores only its first `bytes` bytes and returns -error.
  void tear_write(unsigned nth, std::size_t bytes, int error);
  /// From now on, every write and sync fails with `error` until the next crash(), as if the disk were gone.
  void break_down(int error);

  /// Power off and on. Files that are open return EIO from now on. Names that no directory sync has confirmed (of
  /// removed files, too) are as they were before.
  void crash(unsynced rest, std::uint64_t seed = 1);

  /// Calls of that kind since the reset, including failed ones.
  std::uint64_t calls(file_call call) const;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::script
