// SPDX-License-Identifier: Apache-2.0
// linked_counts locks|blocks THREADS SECTIONS: a program that links txsync. Its critical sections of one elided mutex,
// or its atomic blocks, change some of 64 lines each; one in a hundred makes a system call. Says how many there were.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include <txsync/mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/tm.hpp>

namespace {

constexpr unsigned lines = 64;
struct alignas(64) line {
  long value;
};
line data[lines];
struct alignas(64) variable {
  txsync::tm::var<long> value{0};
};
variable variables[lines];

constinit txsync::site_with_policy accounts{"linked.accounts", txsync::elision_presets::eager};
constinit txsync::elided<txsync::mutex> lock{accounts};
constinit txsync::tm::block transfer{"linked.transfer"};

unsigned drawn(unsigned& seed) { return seed = seed * 1'664'525 + 1'013'904'223; }

void lock_sections(unsigned seed, long sections) {
  for (long i = 0; i < sections; ++i) {
    const unsigned number = drawn(seed);
    const std::lock_guard guard(lock);
    for (unsigned n = 0; n < 3; ++n) ++data[(number >> (8 * n)) % lines].value;
    if (number % 100 == 7) (void)getppid();
  }
}

void run_blocks(unsigned seed, long sections) {
  for (long i = 0; i < sections; ++i) {
    const unsigned number = drawn(seed);
    txsync::tm::atomically(transfer, [&](auto& tx) {
      for (unsigned n = 0; n < 3; ++n) {
        auto& one = variables[(number >> (8 * n)) % lines].value;
        tx.write(one, tx.read(one) + 1);
      }
      if (number % 100 == 7) (void)getppid();
    });
  }
}

}  // namespace

int main(int, char** words) {
  const bool locks = std::strcmp(words[1], "locks") == 0;
  const auto threads = static_cast<unsigned>(std::atoi(words[2]));
  const long sections = std::atol(words[3]);
  if (!locks && !txsync::tm::use_algorithm("htm_sgl")) return 1;
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(locks ? lock_sections : run_blocks, i + 1, sections);
  for (std::thread& one : all) one.join();
  long sum = 0;
  for (const line& one : data) sum += one.value;
  for (variable& one : variables) {
    sum += txsync::tm::atomically(transfer, [&](auto& tx) { return tx.read(one.value); });
  }
  std::printf("%ld\n", sum / 3);
}
