// SPDX-License-Identifier: Apache-2.0
// Parts with few executions, which can be counted. The first word says which part runs. explored_programs.py has what the parts
// of reads and writes do.
#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<int> x{0};
std::atomic<int> y{0};
std::atomic<int> z{0};
std::atomic<int> seen[4];  // a word for each thread

template <class... Bodies>
void at_once(Bodies... bodies) {
  std::vector<std::thread> threads;
  threads.reserve(sizeof...(bodies));
  (threads.emplace_back(bodies), ...);
  for (std::thread& one : threads) one.join();
}

std::mutex first;
std::mutex second;
std::shared_mutex shared;
std::condition_variable changed;
bool is_ready = false;
sem_t tokens;

void section(std::mutex& mutex) { const std::lock_guard guard(mutex); }

void wait_until_ready() {
  std::unique_lock lock(first);
  while (!is_ready) changed.wait(lock);
}

void become_ready() {
  {
    const std::lock_guard guard(first);
    is_ready = true;
  }
  changed.notify_one();
}

void take_and_give() {
  sem_wait(&tokens);
  sem_post(&tokens);
}

const std::map<std::string, void (*)()> parts = {
    {"independent", [] { at_once([] { x = 1; }, [] { y = 1; }); }},
    {"two-stores", [] { at_once([] { x = 1; }, [] { x = 2; }); }},
    {"store-buffering", [] { at_once([] { x = 1, seen[0] = y.load(); }, [] { y = 1, seen[1] = x.load(); }); }},
    {"message", [] { at_once([] { x = 1, y = 1; }, [] { seen[0] = y.load(), seen[0] = x.load(); }); }},
    {"one-writer", [] { at_once([] { x = 1; }, [] { seen[0] = x.load(); }, [] { seen[1] = x.load(); }); }},
    {"adds", [] { at_once([] { ++x, ++x; }, [] { ++x, ++x; }); }},
    {"three-adds", [] { at_once([] { ++x; }, [] { ++x; }, [] { ++x; }); }},
    {"chain", [] { at_once([] { x = 1; }, [] { y = x.load(); }, [] { z = y.load(); }); }},
    {"four-words", [] { at_once([] { x = 1, y = 1; }, [] { y = 2, z = 2; }, [] { z = 3, x = 3; }); }},
    {"two-sections", [] { at_once([] { section(first); }, [] { section(first); }); }},
    {"three-sections", [] { at_once([] { section(first); }, [] { section(first); }, [] { section(first); }); }},
    {"two-locks", [] { at_once([] { section(first), section(second); }, [] { section(first), section(second); }); }},
    {"a-condition", [] { at_once(wait_until_ready, become_ready); }},
    {"a-semaphore",
     [] {
       sem_init(&tokens, 0, 1);
       at_once(take_and_give, take_and_give);
     }},
    {"readers-and-writer",
     [] {
       const auto read = [] { const std::shared_lock guard(shared); };
       at_once(read, read, [] { const std::unique_lock guard(shared); });
     }},
    {"a-try",
     [] {
       at_once([] { section(first); },
               [] {
                 if (first.try_lock()) first.unlock();
               });
     }},
    {"taken-twice",
     [] {
       static std::recursive_mutex twice;
       const auto take = [] { const std::lock_guard outer(twice), inner(twice); };
       at_once(take, take);
     }},
    {"never-joined",
     [] {
       std::thread([] {
         x = 1;
         y = 1;
       }).detach();
       // The thread may have done nothing, all, or half of it when the process ends.
       if (x == 1 && y == 0) std::fputs("the thread was cut off\n", stderr), std::_Exit(1);
     }},
    {"sleeps", [] { at_once([] { std::this_thread::sleep_for(std::chrono::microseconds(100)); }, [] { x = 1; }); }},
    {"many-threads",
     [] {
       std::vector<std::thread> threads;
       for (int i = 0; i < 65; ++i) threads.emplace_back([] { ++x; });
       for (std::thread& one : threads) one.join();
     }},
    {"crossing-locks", [] {
       at_once(
           [] {
             const std::lock_guard a(first);
             const std::lock_guard b(second);
           },
           [] {
             const std::lock_guard b(second);
             const std::lock_guard a(first);
           });
     }}};

}  // namespace

int main(int count, char** words) {
  if (count != 2 || !parts.contains(words[1])) return 2;
  parts.at(words[1])();
}
