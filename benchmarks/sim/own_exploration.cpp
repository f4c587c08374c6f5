// SPDX-License-Identifier: Apache-2.0
// own_exploration SCHEDULES: a user's test that explores itself, for bench_sim: two threads, a mutex and a count.
#include <cstdlib>
#include <mutex>
#include <thread>

#include <txsync/explore.hpp>

namespace {

bool was_wrong = false;

void add_in_two_threads() {
  std::mutex mutex;
  int count = 0;
  const auto add = [&] {
    const std::lock_guard guard(mutex);
    ++count;
  };
  std::thread one(add);
  std::thread other(add);
  one.join();
  other.join();
  was_wrong = count != 2;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const auto schedules = static_cast<std::uint64_t>(std::strtoull(words[1], nullptr, 10));
  const auto seen =
      txsync::explore({.schedules = schedules, .has_failed = [] { return was_wrong; }}, add_in_two_threads);
  return seen.failed || seen.schedules != schedules ? 1 : 0;
}
