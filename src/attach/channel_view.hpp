// SPDX-License-Identifier: Apache-2.0
// Programs under `txsync run`, seen by another process of the same user: what their sites count, while they run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <txsync/observe/counters.hpp>

#include "base/descriptor.hpp"
#include "launch/site_list.hpp"

namespace txsync::inline TXSYNC_BACKEND::attach {

/// A run that goes on.
struct running_launch {
  int launcher = 0;            ///< the process of `txsync run`
  std::string channel;         ///< path of the file
  std::vector<int> processes;  ///< of the program, that count now
  std::string command;         ///< of the first one of these, else of the launcher; printable
};

/// Those of this user; of all users for root. By the folders of channels, so that none that runs is missed.
std::vector<running_launch> running_launches();

/// Whether `process` is the launcher or a process of the program.
bool belongs_to(const running_launch& one, int process);

/// One look at the counters.
struct channel_counts {
  std::uint64_t at_ns = 0;                   ///< machine::clock_ns()
  std::uint32_t threads = 0;                 ///< that have counted
  std::vector<observe::site_totals> totals;  ///< of site i at [i - 1]; waits that go on included
};

/// Reads a channel; never writes to it, and relies on nothing in it.
class channel_view {
 public:
  /// Throws std::runtime_error: it cannot be read, or is of another version of txsync.
  explicit channel_view(const std::string& path);

  /// False when the launcher has ended.
  bool is_alive() const;
  /// Reads the names again: there are more.
  const std::vector<launch::listed_site>& sites();
  channel_counts read() const;

 private:
  std::string path_;
  base::descriptor file_;
  std::vector<launch::listed_site> sites_;
};

}  // namespace txsync::inline TXSYNC_BACKEND::attach
