// SPDX-License-Identifier: Apache-2.0
// linked_paths THREADS BLOCKS [stay]: a program that links txsync. Each thread runs so many atomic blocks that write two
// words, and as many that allow no attempts in hardware. Then it runs a tenth as many that write more lines of its own
// than an attempt has room for. Prints the sum of the words. `stay`: says "ready", and runs blocks until its input ends.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <txsync/tm.hpp>

namespace {

namespace stm = txsync::tm;

constexpr unsigned max_threads = 4;
constexpr unsigned lines = 544;  // of each thread; 512 fit
struct alignas(64) variable {
  stm::var<long> value{0};
};
variable variables[max_threads * lines];

constinit stm::block few{"paths.few"};
constinit stm::block many{"paths.many"};
constinit stm::block kept{"paths.kept", {.hardware_attempts = 0}};

template <class Transaction>
void add(Transaction& tx, unsigned at, long amount) {
  stm::var<long>& value = variables[at % (max_threads * lines)].value;
  tx.write(value, tx.read(value) + amount);
}

void transfer(stm::block& where, unsigned seed) {
  stm::atomically(where, [&](auto& tx) {
    add(tx, seed >> 8, -1);
    add(tx, seed >> 20, 1);
  });
}

void write_few(unsigned seed, unsigned blocks) {
  for (unsigned n = 0; n < blocks; ++n) {
    seed = seed * 1'664'525 + 1'013'904'223;
    transfer(few, seed);
    transfer(kept, seed);
  }
}

void write_many(unsigned thread, unsigned blocks) {
  for (unsigned n = 0; n < blocks; ++n) {
    stm::atomically(many, [&](auto& tx) {
      for (unsigned i = 0; i < lines; ++i) add(tx, thread * lines + i, 1);
    });
  }
}

void work(unsigned thread, unsigned blocks) {
  write_few(thread + 1, blocks);
  write_many(thread, blocks / 10);
}

long sum() {
  return stm::atomically(many, [](auto& tx) {
    long all = 0;
    for (const variable& one : variables) all += tx.read(one.value);
    return all;
  });
}

}  // namespace

int main(int count, char** words) {
  const auto threads = static_cast<unsigned>(std::atoi(words[1]));
  const auto blocks = static_cast<unsigned>(std::atoi(words[2]));
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(work, i, blocks);
  for (std::thread& one : all) one.join();
  std::printf("%ld\n", sum());
  if (count < 4 || std::strcmp(words[3], "stay") != 0) return 0;
  std::atomic<bool> ended{false};
  std::thread reader([&] {
    while (std::getchar() != EOF) {
    }
    ended = true;
  });
  std::puts("ready");
  std::fflush(stdout);
  while (!ended) work(0, 100);
  reader.join();
}
