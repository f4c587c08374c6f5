// SPDX-License-Identifier: Apache-2.0
// The processes that a program has started and left behind, daemons included.
#pragma once

#include <vector>

#include <sys/types.h>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// While it lives, descendants whose own parent has ended become children of this process.
class family {
 public:
  family();
  ~family();
  family(const family&) = delete;
  family& operator=(const family&) = delete;

  /// Ends all children that this process has got since the construction, and then their children: by SIGTERM, and after
  /// two seconds by SIGKILL. A child that waits for a device may survive even that; it is left after three more
  /// seconds.
  /// Requires: the program itself has been waited for.
  void end() const;

 private:
  std::vector<pid_t> before_;  // children that are not the program's
  int was_reaper_ = 0;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
