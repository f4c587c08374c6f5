// SPDX-License-Identifier: Apache-2.0
// A spin lock around a few instructions. It is a Lockable type, as the standard defines it, so std::lock_guard and
// std::scoped_lock work with it.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include <txsync/locks/tatas.hpp>

int main() {
  constexpr int threads = 4;
  constexpr int rounds = 100'000;

  static constinit txsync::tatas_lock lock;  // needs no construction at run time, 4 bytes
  long total = 0;                            // guarded by lock
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i) {
      workers.emplace_back([&total] {
        for (int round = 0; round < rounds; ++round) {
          const std::lock_guard guard(lock);
          ++total;
        }
      });
    }
  }  // jthread joins
  std::printf("%ld of %d\n", total, threads * rounds);
  return total == threads * rounds ? 0 : 1;
}
