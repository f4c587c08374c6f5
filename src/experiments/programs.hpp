// SPDX-License-Identifier: Apache-2.0
// What papers say of whole programs, for which no workload stands: as data for what runs the program itself.
#pragma once

#include "experiments/experiment.hpp"

namespace txsync::inline TXSYNC_BACKEND::experiments {

/// A program with what the paper made of its locks, over the program as it is.
struct program_fact {
  const char* workload;
  unsigned threads;
  range expected;  ///< of the ratio of throughputs
  const char* source;
};

/// LevelDB under XSync, on haswell-i7-4770. Fig 5 counts the difference of operations completed; Fig 8 is a drawing,
/// whose orders the text names.
inline constexpr program_fact leveldb_facts[] = {
    {"fillseq", 8, exactly(1.225), "LevelDB paper, 5.2 and Fig 3: 22.5 % at 8 threads"},
    {"fillrandom", 8, exactly(1.252), "LevelDB paper, 5.2 and Fig 4: 25.2 % at 8 threads"},
    {"write-heavy", 2, at_least(1), "LevelDB paper, Fig 5: ahead at 2 threads"},
    {"write-heavy", 4, at_most(1), "LevelDB paper, Fig 5: behind at 4 threads for most of the run"},
    {"write-heavy", 8, at_least(1), "LevelDB paper, Fig 5: ahead at 8 threads"},
    {"ycsb-a", 4, at_most(1), "LevelDB paper, Fig 8: lower for a"},
    {"ycsb-b", 4, at_least(1), "LevelDB paper, Fig 8: higher for b"},
    {"ycsb-c", 4, at_least(1), "LevelDB paper, Fig 8: higher for c"},
    {"ycsb-d", 4, at_least(1), "LevelDB paper, Fig 8: higher for d"},
    {"ycsb-e-latest", 4, exactly(1), "LevelDB paper, Fig 8: comparable for e"},
};

}  // namespace txsync::inline TXSYNC_BACKEND::experiments
