// SPDX-License-Identifier: Apache-2.0
// What papers say about whole programs that no workload replaces. The benchmarks that run these programs use this data.
#pragma once

#include "experiments/experiment.hpp"

namespace txsync::inline TXSYNC_BACKEND::experiments {

/// A program with the paper's locks, relative to the unmodified program.
struct program_fact {
  const char* workload;
  unsigned threads;
  range expected;  ///< ratio of throughputs
  const char* source;
};

/// LevelDB under XSync, on haswell-i7-4770. Fig 5 shows the difference of completed operations. Fig 8 is a drawing; the
/// text says which side is higher.
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

/// The same for one kind of lock relative to another.
struct lock_fact {
  const char* lock;
  const char* beside;  ///< null: the lock `default` with one thread
  unsigned threads;
  range expected;  ///< ratio of throughputs
  const char* source;
};

inline constexpr range kyoto_ticket_gain = between(1.15, 1.27);
inline constexpr range kyoto_tatas_gain = between(1.04, 1.25);
inline constexpr const char* kyoto_gains = "always-abort paper, IV-A 3: at 4 threads and more";
inline constexpr const char* kyoto_tatas = "always-abort paper, IV-A 3: tatas is faster than default in all cases";
inline constexpr const char* kyoto_htm = "always-abort paper, IV-A 3: no speedup over a single thread";
inline constexpr const char* kyoto_fifo = "always-abort paper, IV-A 3: ticket-aahtm outperforms tatas";

/// Kyoto Cabinet's tree, on broadwell-e5-2697v4.
inline constexpr lock_fact kyoto_facts[] = {
    {"tatas", "default", 4, at_least(1), kyoto_tatas},
    {"tatas", "default", 8, at_least(1), kyoto_tatas},
    {"tatas", "default", 18, at_least(1), kyoto_tatas},
    {"ticket-aahtm", "ticket", 4, kyoto_ticket_gain, kyoto_gains},
    {"ticket-aahtm", "ticket", 8, kyoto_ticket_gain, kyoto_gains},
    {"ticket-aahtm", "ticket", 12, kyoto_ticket_gain, kyoto_gains},
    {"ticket-aahtm", "ticket", 18, kyoto_ticket_gain, kyoto_gains},
    {"tatas-aahtm", "tatas", 4, kyoto_tatas_gain, kyoto_gains},
    {"tatas-aahtm", "tatas", 8, kyoto_tatas_gain, kyoto_gains},
    {"tatas-aahtm", "tatas", 12, kyoto_tatas_gain, kyoto_gains},
    {"tatas-aahtm", "tatas", 18, kyoto_tatas_gain, kyoto_gains},
    {"ticket-aahtm", "tatas", 18, at_least(1), kyoto_fifo},
    {"htm-1", nullptr, 18, at_most(1), kyoto_htm},
    {"htm-10", nullptr, 18, at_most(1), kyoto_htm},
};

/// What happened to the attempts of htm-10 there, at 20 threads.
inline constexpr unsigned kyoto_htm_threads = 20;
inline constexpr double kyoto_tries_a_commit = 4.3;
inline constexpr double kyoto_conflicts = 91;  ///< percent of aborts

}  // namespace txsync::inline TXSYNC_BACKEND::experiments
