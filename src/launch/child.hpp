// SPDX-License-Identifier: Apache-2.0
// A program that was started: its output, its signals, its end.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

struct child_request {
  std::string path;                      ///< of the file, found by find_program()
  std::vector<std::string> arguments;    ///< the program's name first
  std::vector<std::string> environment;  ///< NAME=VALUE
  std::optional<double> limit_seconds;
  bool capture = false;
  int input = -1;  ///< with capture: what becomes its standard input; -1: /dev/null
  std::size_t capture_bytes = 0;
  bool end_family = false;  ///< after its end, the processes that it leaves are ended
  /// Called at least every 50 ms while the program runs.
  std::function<void()> while_waiting = [] {};
};

struct child_end {
  int process = 0;
  std::uint64_t ended_at = 0;  ///< machine::cycles()
  int wait_status = 0;
  double wall_s = 0;
  double user_s = 0;
  double system_s = 0;
  double others_s = 0;  ///< CPU time that other processes used meanwhile; 0 if /proc/stat cannot be read
  std::string output;
  bool output_cut = false;
  bool timed_out = false;
  int interrupted = 0;
};

/// Ignores the signal in this process. Programs that are started get the disposition that it had before. Requires: the
/// process has one thread.
void ignore_in_this_process(int signal);

/// Starts it and waits for its end. Throws cannot_start.
child_end run_child(const child_request& request);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
