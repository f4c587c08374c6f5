// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "channel/channel.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

/// How many threads have counted in blocks: the greatest number at one time. A thread of a program with both libraries
/// counts in two blocks, and once here.
class counting_threads {
 public:
  /// The block's owner, and the thread that has it (observe::thread_in()).
  void add(std::uint32_t owner, std::uint32_t thread) {
    const std::uint32_t process = block_owner::process_in(owner);
    if (process == 0 || thread == 0)
      ++others_;
    else
      known_.insert({process, thread});
  }
  std::uint32_t count() const { return others_ + static_cast<std::uint32_t>(known_.size()); }

 private:
  std::set<std::pair<std::uint32_t, std::uint32_t>> known_;
  std::uint32_t others_ = 0;  // those whose thread is unknown
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel
