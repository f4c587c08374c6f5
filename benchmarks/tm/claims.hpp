// SPDX-License-Identifier: Apache-2.0
// The numbered lines that ./dev bench tm answers from its table.
#pragma once

#include <vector>

#include "locks/measure.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// What D1-1 and D2-2 ask of one section.
struct tm_goals {
  const char* preset;
  double to_best_own;      ///< dctl to the best of our algorithms, any number of threads
  double to_mutex_at_2;    ///< dctl to std::mutex, 2 threads: D1-1
  double to_mutex_d2;      ///< the same: D2-2
  double slower_at_1;      ///< std::mutex to dctl, 1 thread, at most
  bool above_libitm_at_1;  ///< dctl above libitm with 1 thread too
};
inline constexpr tm_goals all_tm_goals[] = {{"bank-50", 0.95, 3.0, 2.5, 1.4, true},
                                            {"hash-10", 0.95, 3.0, 3.0, 1.4, true},
                                            {"hash-90", 0.95, 2.5, 3.0, 1.4, true},
                                            {"list-20", 0.95, 1.4, 2.0, 1.4, true},
                                            {"tree-20", 0.9, 1.3, 2.0, 2.7, false}};
inline constexpr double goal_at_4 = 0.7;    ///< dctl with 4 threads to dctl with 2
inline constexpr double goal_inside = 1.0;  ///< D1-2: dctl to std::mutex, 2 threads, nodes allocated in sections
inline constexpr const char* inside_mark = "-inside";

/// D1-1, D1-2 and D2-2, as far as the cells hold what they need.
std::vector<observe::claim> make_tm_claims(const request& wanted, const std::vector<cell>& cells);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
