// SPDX-License-Identifier: Apache-2.0
// Threads that work in phases: no thread starts a phase before all have finished the one before. They compute prefix
// sums by doubling (Hillis and Steele 1986): in phase k each cell adds the cell 2^k to its left.
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include <txsync/barrier.hpp>

int main() {
  constexpr std::size_t threads = 4;
  constexpr std::size_t cells = 1'000;

  std::vector<long> from(cells);
  std::iota(from.begin(), from.end(), 1);
  std::vector<long> to(cells);
  txsync::barrier phase{threads};

  const auto work = [&](std::size_t me) {
    // Each thread swaps its own pair of pointers; the cells are shared.
    long* source = from.data();
    long* target = to.data();
    for (std::size_t distance = 1; distance < cells; distance *= 2) {
      for (std::size_t i = me; i < cells; i += threads)
        target[i] = source[i] + (i >= distance ? source[i - distance] : 0);
      phase.arrive_and_wait();
      std::swap(source, target);
    }
  };
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < threads; ++i) workers.emplace_back(work, i);
  }
  // 1000 cells take ten phases: an even number, so that the result is where the input was.
  constexpr long expected = long{cells} * (cells + 1) / 2;
  std::printf("sum of 1..%zu: %ld of %ld\n", cells, from.back(), expected);
  return from.back() == expected ? 0 : 1;
}
