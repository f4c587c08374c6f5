// SPDX-License-Identifier: Apache-2.0
#include "observe/turns.hpp"

#include <algorithm>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {
namespace {

double all_turns(std::span<const thread_turns> threads) {
  double sum = 0;
  for (const thread_turns& one : threads) sum += static_cast<double>(one.turns);
  return sum;
}

}  // namespace

std::vector<thread_turns> compared_threads(std::span<const thread_turns> all, std::uint64_t run_ns) {
  std::vector<thread_turns> list;
  std::copy_if(all.begin(), all.end(), std::back_inserter(list), [run_ns](const thread_turns& one) {
    return one.turns >= min_compared_turns || (one.wait_ns != 0 && one.wait_ns >= run_ns / 100);
  });
  std::sort(list.begin(), list.end(), [](const thread_turns& a, const thread_turns& b) {
    return a.turns != b.turns ? a.turns < b.turns : a.wait_ns > b.wait_ns;
  });
  return list;
}

std::optional<slow_thread> slowest_thread(std::span<const thread_turns> compared, std::uint64_t run_ns) {
  if (compared.size() < 2) return std::nullopt;
  for (std::size_t rank = 0; rank < compared.size(); ++rank) {
    const thread_turns& one = compared[rank];
    if (one.wait_ns == 0 || one.wait_ns < run_ns / 10) continue;
    return slow_thread{share_of_rank(compared, rank), rank, compared.size(), one.wait_ns};
  }
  return std::nullopt;
}

double share_of_rank(std::span<const thread_turns> compared, std::size_t rank) {
  const double sum = all_turns(compared);
  if (sum == 0) return 0;
  return static_cast<double>(compared[std::min(rank, compared.size() - 1)].turns) / sum;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
