// SPDX-License-Identifier: Apache-2.0
// The programs that a program under the preloaded library has started (src/preload/exec.cpp), and which of them cannot
// have loaded it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "channel/channel.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

class started_programs {
 public:
  /// `preloaded`: as for check_takes_library().
  explicit started_programs(std::string preloaded) : preloaded_(std::move(preloaded)) {}

  /// Takes what has come since the last call.
  void read(channel::head& head);

  /// Why each of them cannot have loaded it, one sentence each.
  const std::vector<std::string>& without_library() const noexcept { return without_library_; }

 private:
  void judge(const std::string& path);

  std::string preloaded_;
  std::set<std::string> known_;
  std::vector<std::string> without_library_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
