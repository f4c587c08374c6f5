// SPDX-License-Identifier: Apache-2.0
// Blocks that restart out of frames with poisoned red zones; afterwards other code uses that stack. (A retry() is not
// enough: the compiler tells AddressSanitizer before it calls a function that does not return.)
#include <atomic>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <thread>
#include <txsync/tm.hpp>
#include <vector>

namespace {

constinit txsync::tm::block restarts{"restarts"};
txsync::tm::var<long> number{0};
std::atomic<int> restarted{0};
thread_local const char* volatile kept = nullptr;  // what is stored here cannot be left out

[[gnu::noinline]] void use_stack() {
  std::ostringstream text;
  text << 1e300 << ' ' << 2.5;
  char copy[3000];
  std::snprintf(copy, sizeof copy, "%f %s", 1e300, text.str().c_str());
  kept = copy;
  kept = nullptr;
}

template <class Tx>
[[gnu::noinline]] long deep(Tx& tx, int level) {
  char text[200];
  char more[64];
  std::snprintf(text, sizeof text, "%d", level);
  std::memset(more, level, sizeof more);
  kept = text;
  kept = more;
  if (level > 0) return deep(tx, level - 1) + text[0] + more[3];
  const long seen = tx.read(number);
  for (int i = 0; i < 200; ++i) kept = nullptr;
  tx.write(number, seen + 1);
  return seen;
}

void work() {
  for (int i = 0; i < 200000 && restarted.load() < 500; ++i) {
    int tries = 0;
    txsync::tm::atomically(restarts, [&](auto& tx) {
      if (++tries > 1) use_stack();
      (void)deep(tx, 6);
    });
    if (tries == 1) continue;
    use_stack();
    ++restarted;
  }
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& one : threads) one.join();
  std::printf("%s\n", number.load() > 0 ? "ended" : "no block ran");
}
