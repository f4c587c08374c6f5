// SPDX-License-Identifier: Apache-2.0
// Inside the scripted machine: the disk. It keeps what readers see, and separately what would survive a crash.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "script_files.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::script {

/// A write or a truncation that no sync has confirmed yet.
struct change {
  std::uint64_t offset;
  std::string data;
  bool truncates;  ///< to `offset` bytes
};

struct inode {
  std::string seen;
  std::string durable;
  std::vector<change> pending;

  void make(change one);
  void sync();
};

struct handle {
  std::shared_ptr<inode> of;
  bool writable = false;
  bool lost = false;  ///< a crash has happened since the file was opened
};

inline constexpr std::size_t nothing_torn = ~std::size_t{0};

struct failure {
  file_call call;
  unsigned left;
  int error;
  std::size_t torn_to;  ///< for a write: how many bytes of it are stored
};

using names = std::map<std::string, std::shared_ptr<inode>>;

struct disk {
  std::mutex guard;
  names seen;
  names durable;
  std::set<std::string> folders;
  std::vector<handle> handles;
  std::vector<failure> failures;
  int broken = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(file_call::any) + 1> calls{};
};

/// The one disk, made at the first call and never destroyed. All functions below require that its guard is held.
disk& the_disk();

std::string folder_of(const std::string& path);
bool has_folder(const disk& all, const std::string& folder);

/// Makes the names in that folder durable as readers see them now.
void sync_names(disk& all, const std::string& folder);

/// Counts the call, and returns the failure that was ordered for it, if any.
std::optional<failure> strike(disk& all, file_call call);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::script
