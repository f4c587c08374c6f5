// SPDX-License-Identifier: Apache-2.0
// The tuner's results in words, as a table, and as a result document.
#pragma once

#include "tune/engine.hpp"
#include "tune/slowdown.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

/// Candidates that did not run, because nobody named them.
struct left_out {
  std::vector<std::string> names;
  std::string reason;  ///< "without hardware transactions they are their plain locks"
};

/// What was tuned, for tables and documents.
struct described {
  std::string workload;  ///< the program's name, or the built-in workload
  observe::json params = observe::json::object();
  unsigned threads = 1;
  std::string placement = "none";
  std::string metric = "wall time";
  std::string unit = "s";
  observe::better way = observe::better::lower;
  std::string better_word = "fast";  ///< "1.2 times as fast as"
  std::vector<left_out> others = {};
  std::vector<std::string> warnings = {};  ///< why the verdict may be worth nothing (doubts.hpp)
  std::string crowd = {};                  ///< says that other programs used the CPUs (launch::crowd_words)
};

/// An arm of a comparison.
struct table_row {
  std::string phase;
  const tune::arm* arm = nullptr;
  bool reference = false;             ///< what the other arms of its phase are compared with
  bool winner = false;                ///< what its phase chose
  observe::interval ratio;            ///< to the reference of its phase; coverage 0 and median 0 if there is none
  std::optional<slowdown> slow = {};  ///< of the whole program; none: it is not surely slower, or it failed
  std::string status;                 ///< "best", "refused in round 4: a thread waited too long ...",
                                      ///< "dropped in round 5: worse with p < 0.05", "failed in round 1: exit status 3"
};

/// In the order of measuring. Keeps pointers into `result`.
std::vector<table_row> table_of(const outcome& result, observe::better way);

/// The verdict in one sentence: the gain with its interval, or why to keep the reference.
std::string verdict_words(const outcome& result, const described& tuned);

/// Which comparisons the time limit ended, and after how many rounds. Empty if the time was enough.
std::string time_words(const outcome& result);

/// What was refused and why, or why nothing could be refused, one sentence each.
std::vector<std::string> refusal_words(const outcome& result);

/// Adds points, and the member "tune" (docs/result-document.md). `policy` is the text of the policy file; empty if
/// there is none.
void put(observe::document& into, const outcome& result, const described& tuned, const std::string& policy);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
