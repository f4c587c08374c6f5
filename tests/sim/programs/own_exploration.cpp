// SPDX-License-Identifier: Apache-2.0
// A program that explores parts of itself. The first word says which part.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <txsync/explore.hpp>

namespace {

bool was_wrong = false;

template <class First, class Second>
void two_threads(First first, Second second) {
  std::thread one(first);
  std::thread other(second);
  one.join();
  other.join();
}

void add_in_two_steps(std::atomic<int>& count) { count.store(count.load() + 1); }

void lost_update() {
  std::atomic<int> count{0};
  two_threads([&] { add_in_two_steps(count); }, [&] { add_in_two_steps(count); });
  was_wrong = count != 2;
}

void right() {
  std::mutex mutex;
  std::vector<int> values;
  const auto push = [&] {
    const std::lock_guard guard(mutex);
    values.push_back(1);
  };
  two_threads(push, push);
  was_wrong = values.size() != 2;
}

void throws() {
  lost_update();
  if (was_wrong) throw std::runtime_error("an update was lost");
}

void aborts() {
  lost_update();
  assert(!was_wrong);
}

void crossing_locks() {
  std::mutex first;
  std::mutex second;
  two_threads([&] { const std::scoped_lock one(first), other(second); },
              [&] { const std::scoped_lock one(second), other(first); });
}

void data_race() {
  int count = 0;
  two_threads([&] { ++count; }, [&] { ++count; });
}

void use_after_free() {
  std::atomic<int*> shared{new int(1)};
  two_threads([&] { delete shared.exchange(nullptr); },
              [&] {
                if (int* const seen = shared.load(); seen != nullptr) was_wrong = *seen != 1;
              });
}

void exits() { std::exit(0); }

void nested() { txsync::explore({.schedules = 1}, right); }

void not_joined() {
  static std::atomic<int> count{0};
  std::thread([] { ++count; }).detach();
}

/// A fault of a thread that comes late: many steps of one before the first of the other.
void late() {
  std::atomic<int> turn{0};
  std::atomic<int> seen{0};
  two_threads(
      [&] {
        for (int i = 0; i < 5; ++i) turn = i;
      },
      [&] { seen = turn.load(); });
  was_wrong = seen == 3;
}

const std::map<std::string, void (*)()> bodies = {{"lost-update", lost_update},
                                                  {"right", right},
                                                  {"throws", throws},
                                                  {"aborts", aborts},
                                                  {"data-race", data_race},
                                                  {"crossing-locks", crossing_locks},
                                                  {"use-after-free", use_after_free},
                                                  {"not-joined", not_joined},
                                                  {"exits", exits},
                                                  {"nested", nested},
                                                  {"second-time", lost_update},
                                                  {"late", late}};

}  // namespace

int main(int count, char** words) {
  if (count < 2 || !bodies.contains(words[1])) return 2;
  txsync::explore_options options{.schedules = 5'000, .has_failed = [] { return was_wrong; }};
  for (int i = 2; i < count; ++i) {
    const std::string word = words[i];
    options.races = options.races || word == "races";
    options.store_buffers = options.store_buffers || word == "store-buffers";
    for (unsigned order = 1; word.starts_with("order=") && order <= 6; ++order) {
      if (word == "order=" + std::to_string(order)) options.order = static_cast<txsync::explore_order>(order);
    }
  }
  std::atomic<bool> is_over{false};
  std::thread other;
  if (std::string(words[count - 1]) == "beside")
    other = std::thread([&] {
      while (!is_over) std::this_thread::yield();
    });
  txsync::exploration seen;
  const int times = std::string(words[1]) == "second-time" ? 2 : 1;
  for (int i = 0; i < times && !seen.failed; ++i)
    seen = txsync::explore(options, i + 1 < times ? right : bodies.at(words[1]));
  is_over = true;
  if (other.joinable()) other.join();
  std::printf("%s after %llu schedules\n", seen.failed ? "failed" : "nothing",
              static_cast<unsigned long long>(seen.schedules));
  return seen.failed ? 1 : 0;
}
