// SPDX-License-Identifier: Apache-2.0
// Names of code that a program makes while it runs (Java, Node.js, python3 -X perf): the program writes them to
// /tmp/perf-PID.map, one "BEGIN SIZE NAME" a line, both numbers hexadecimal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "attach/target.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

class perf_map {
 public:
  /// Of a greater file only the end is read: the newest names.
  static constexpr std::size_t max_bytes = std::size_t{64} << 20;

  /// Reads the file again if it has changed. It is believed only if it is a regular file, of root or of the program's
  /// user, and no symbolic link: everybody may write to /tmp.
  void refresh(const target& of);
  void read(const std::string& path, std::uint32_t user);

  /// As the file has it, so that it may hold anything; empty when no code with a name is there.
  std::string name_at(std::uint64_t address) const;

 private:
  struct stretch {
    std::uint64_t end = 0;
    std::string name;
  };
  void add_line(const std::string& line);

  std::map<std::uint64_t, stretch> by_begin_;
  std::uint64_t known_size_ = 0;
  std::int64_t known_change_ns_ = 0;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
