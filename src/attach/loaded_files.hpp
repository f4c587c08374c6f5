// SPDX-License-Identifier: Apache-2.0
// What lies where in a process' memory: its mappings, and the files of code that they are from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attach/target.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

struct mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  ///< in the file
  bool executable = false;
  std::string path;  ///< as /proc has it; empty for memory of no file
  bool operator==(const mapping&) const = default;
};

/// A program or library. Addresses as they stand in the file are those of the process less `bias`.
struct loaded_file {
  std::string path;  ///< to open it
  std::uint64_t bias = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< static storage without contents in the file included
};

/// Where the file lies, one of whose mappings is `part`; none where it cannot be read, or where that is no code of it.
std::optional<loaded_file> place_file(const std::string& path, const mapping& part);

class memory_map {
 public:
  memory_map() = default;
  /// As it is now.
  explicit memory_map(const target& of);

  /// Null: nothing is mapped there.
  const mapping* at(std::uint64_t address) const;
  const loaded_file* file_at(std::uint64_t address) const;

  const std::vector<mapping>& mappings() const { return mappings_; }
  const std::vector<loaded_file>& files() const { return files_; }
  bool same_mappings(const memory_map& other) const { return mappings_ == other.mappings_; }

 private:
  void add_files(const target& of);

  std::vector<mapping> mappings_;  // by begin, as the system lists them
  std::vector<loaded_file> files_;
};

/// Copies up to `bytes` bytes of the process' memory without stopping it; answers how many.
std::size_t read_memory(int process, std::uint64_t address, void* into, std::size_t bytes);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
