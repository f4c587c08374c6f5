// SPDX-License-Identifier: Apache-2.0
// What `txsync tune` prints: progress, and the table.
#pragma once

#include <cstdio>
#include <string>

#include "tune/record.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

/// Lines on standard error during the run: rewritten in place on a terminal, otherwise one for each new round.
class tune_progress {
 public:
  tune_progress();
  ~tune_progress();
  tune_progress(const tune_progress&) = delete;
  tune_progress& operator=(const tune_progress&) = delete;

  void show(const tune::progress& now, double seconds);

  /// Prints a line that stays.
  void log(const std::string& line);

 private:
  bool terminal_;
  bool open_ = false;
  std::string last_;
};

/// How long everything is expected to take, and how to limit it; empty if that is at most 5 minutes.
std::string expectation_words(const tune::expected_time& time);

void print_table(std::FILE* out, const tune::outcome& found, const tune::described& what);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
